// Frames by which cells call the host: on lines, but for those that open a line and say what is
// offered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/wire/message.h"

namespace cellar::wire {

enum class OfferKind : uint8_t { kTools = 0, kBudget = 1, kInput = 2 };
inline constexpr size_t kOfferKinds = 3;

// What the host offers to cells. On the channel when a worker starts and when it changes; on a line
// before the next answer, since a cell that runs does not read the channel.
struct BridgeOffer {
  static constexpr MessageType kType = MessageType::kBridgeOffer;
  uint64_t sequence = 0;  // of one kind, the highest one counts
  OfferKind kind = OfferKind::kTools;
  std::string json;  // [{"name", "description", "schema"}], or {"total", "hard", "spent"}, or true
  CELLAR_WIRE_FIELDS(self.sequence, self.kind, self.json)
};

// Carries one end of a stream socket, the line.
struct OpenLine {
  static constexpr MessageType kType = MessageType::kOpenLine;
  // Waits there are made by the main thread, which can run a cell then.
  bool of_main_thread = false;
  CELLAR_WIRE_FIELDS(self.of_main_thread)
};

struct BridgeCall {
  static constexpr MessageType kType = MessageType::kBridgeCall;
  uint64_t call = 0;  // unique within the worker
  uint32_t cell = 0;  // that makes it, or started the thread or task that does; 0 = not known
  std::string name;
  std::string args;  // JSON
  CELLAR_WIRE_FIELDS(self.call, self.cell, self.name, self.args)
};

// Nobody waits for the answer any more.
struct BridgeWithdraw {
  static constexpr MessageType kType = MessageType::kBridgeWithdraw;
  uint64_t call = 0;
  CELLAR_WIRE_FIELDS(self.call)
};

enum class AnswerKind : uint8_t { kValue = 0, kError = 1, kCancelled = 2 };

struct BridgeImage {
  std::string mime;
  std::string data;
  CELLAR_WIRE_FIELDS(self.mime, self.data)
};

struct BridgeAnswer {
  static constexpr MessageType kType = MessageType::kBridgeAnswer;
  uint64_t call = 0;
  AnswerKind kind = AnswerKind::kValue;
  std::string data;  // JSON, or the message of an error
  std::vector<BridgeImage> images;
  CELLAR_WIRE_FIELDS(self.call, self.kind, self.data, self.images)
};

// Run a cell inside the wait for `call`. Answered by Display, Error and Done on the channel.
struct BridgeNested {
  static constexpr MessageType kType = MessageType::kBridgeNested;
  uint64_t call = 0;
  uint32_t cell = 0;
  std::string code;
  CELLAR_WIRE_FIELDS(self.call, self.cell, self.code)
};

}  // namespace cellar::wire
