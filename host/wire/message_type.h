// Which messages there are, and how a message names its fields.
#pragma once

#include <cstdint>

namespace cellar::wire {

// Types are never given to another meaning; a new meaning is a new number.
enum class MessageType : uint16_t {
  // host -> worker
  kSetup = 1,
  kExecute = 2,
  kSet = 3,
  kGet = 4,
  kExit = 5,
  kEnter = 12,
  kQuery = 13,
  kCopy = 16,
  kMeasure = 17,
  // worker -> host
  kHello = 32,
  kDisplay = 33,
  kError = 34,
  kDone = 35,
  kNotice = 36,
  kValue = 37,
  kQueryAnswer = 38,
  kRingFull = 39,
  kCopied = 48,
  kMeasured = 49,
  // host -> template
  kStart = 64,
  kFork = 65,
  // template -> host
  kReady = 80,
  kFailed = 81,
  kForkFailed = 82,
  // host -> keeper
  kSignal = 96,
  kKill = 97,
  kKeepSnapshot = 98,
  kPromote = 99,
  kKeepBranch = 100,
  // keeper -> host
  kKeeperHello = 112,
  kWorkerExited = 113,
  kCleared = 114,
  kBranchKept = 115,
  // host -> worker, on the channel and on lines
  kBridgeOffer = 128,
  // worker -> host
  kOpenLine = 129,
  // worker -> host, on a line
  kBridgeCall = 130,
  kBridgeWithdraw = 131,
  // host -> worker, on a line
  kBridgeAnswer = 132,
  kBridgeNested = 133,
};

// The fields of a message in their order on the wire, for both directions.
#define CELLAR_WIRE_FIELDS(...)                                       \
  template <typename Self, typename Archive>                          \
  static void Fields([[maybe_unused]] Self& self, Archive& archive) { \
    archive(__VA_ARGS__);                                             \
  }

}  // namespace cellar::wire
