// PI_PYTHON_IPC_TRACE: every frame between host and worker, one line each. The value 1 means
// standard error, another one is a file that lines are added to.
#pragma once

#include <cstdint>
#include <string_view>

namespace cellar::host {

enum class FrameDirection { kToWorker, kFromWorker };

// "cellar: frame -> 1234 Execute 17 bytes: ..."; payloads are shortened and escaped. Cheap when
// nothing is traced.
void TraceFrame(FrameDirection direction, int worker_pid, uint16_t type, std::string_view payload);

}  // namespace cellar::host
