#include "host/wire/frame_trace.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "host/base/fds.h"
#include "host/base/status.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"
#include "host/wire/copy_messages.h"

namespace cellar::wire {
namespace {

constexpr size_t kShownBytes = 120;

// -1 when nothing is traced. Stays open to the end of the program.
int OpenTrace() {
  const char* value = std::getenv("PI_PYTHON_IPC_TRACE");
  if (value == nullptr || *value == '\0' || std::string_view(value) == "0") return -1;
  if (std::string_view(value) == "1") return STDERR_FILENO;
  const int fd = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) return fd;
  const absl::Status why = ErrnoStatus(errno, absl::StrCat("PI_PYTHON_IPC_TRACE: ", value));
  WriteAll(STDERR_FILENO, absl::StrCat("cellar: ", std::string(why.message()), "\n"));
  return -1;
}

std::string NameOf(MessageType type) {
  using enum MessageType;
  switch (type) {
    case kSetup:
      return "Setup";
    case kExecute:
      return "Execute";
    case kSet:
      return "Set";
    case kGet:
      return "Get";
    case kExit:
      return "Exit";
    case kEnter:
      return "Enter";
    case kQuery:
      return "Query";
    case kCopy:
      return "Copy";
    case kMeasure:
      return "Measure";
    case kHello:
      return "Hello";
    case kDisplay:
      return "Display";
    case kError:
      return "Error";
    case kDone:
      return "Done";
    case kNotice:
      return "Notice";
    case kValue:
      return "Value";
    case kRingFull:
      return "RingFull";
    case kQueryAnswer:
      return "QueryAnswer";
    case kCopied:
      return "Copied";
    case kMeasured:
      return "Measured";
    case kBridgeOffer:
      return "BridgeOffer";
    case kOpenLine:
      return "OpenLine";
    case kBridgeCall:
      return "BridgeCall";
    case kBridgeWithdraw:
      return "BridgeWithdraw";
    case kBridgeAnswer:
      return "BridgeAnswer";
    case kBridgeNested:
      return "BridgeNested";
    default:
      return absl::StrCat("type ", static_cast<uint16_t>(type));
  }
}

}  // namespace

void TraceFrame(FrameDirection direction, int worker_pid, MessageType type,
                std::string_view payload) {
  static const int fd = OpenTrace();
  if (fd < 0) return;
  const bool is_whole = payload.size() <= kShownBytes;
  const std::string shown(payload.substr(0, kShownBytes));
  const std::string worker = worker_pid < 0 ? "-" : absl::StrCat(worker_pid);
  WriteAll(fd, absl::StrCat("cellar: frame ", direction == FrameDirection::kToWorker ? "->" : "<-",
                            " ", worker, " ", NameOf(type), " ", payload.size(),
                            " bytes: ", absl::CHexEscape(shown), is_whole ? "" : "...", "\n"));
}

}  // namespace cellar::wire
