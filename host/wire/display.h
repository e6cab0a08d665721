// What a cell shows beside text, as the worker sends it: a message of the channel that front ends
// and programs see as it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/wire/message_type.h"
#include "host/wire/position.h"

namespace cellar::wire {

enum class DisplayKind : uint8_t {
  kDisplay = 0,
  kUpdate = 1,
  kResult = 2,
  kClear = 3,
  kStatus = 4
};
// Of the JSON of a status event.
inline constexpr char kStatusMime[] = "application/x-cellar-status";

enum class MimeKind : uint8_t { kText = 0, kBytes = 1, kJson = 2 };

struct MimeEntry {
  std::string mime;
  MimeKind kind = MimeKind::kText;
  std::string data;
  CELLAR_WIRE_FIELDS(self.mime, self.kind, self.data)
};

struct Display {
  static constexpr MessageType kType = MessageType::kDisplay;
  uint32_t cell = 0;
  Position position;  // what was written before it
  DisplayKind kind = DisplayKind::kDisplay;
  std::vector<MimeEntry> data;
  std::string metadata;  // JSON object, or empty
  std::string display_id;
  CELLAR_WIRE_FIELDS(self.cell, self.position.ring, self.position.out, self.position.err, self.kind,
                     self.data, self.metadata, self.display_id)
};

}  // namespace cellar::wire
