// PI_PYTHON_IPC_TRACE: every frame between host and worker, on the channel and on lines, one line
// of text each. The value 1 means standard error, another one is a file that is added to.
#pragma once

#include <string_view>

#include "host/wire/message.h"

namespace cellar::wire {

enum class FrameDirection { kToWorker, kFromWorker };

// "cellar: frame -> 1234 Execute 17 bytes: ..."; payloads are shortened and escaped. A worker that
// is not known, or not yet, is "-". Cheap when nothing is traced.
void TraceFrame(FrameDirection direction, int worker_pid, MessageType type,
                std::string_view payload);

}  // namespace cellar::wire
