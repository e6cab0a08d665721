// Making file descriptors the way cellar wants them: close-on-exec, and out of the low numbers that
// code in a cell is likely to close, list or guess.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "host/base/status.h"
#include "host/base/unique_fd.h"

namespace cellar {

// Moves `fd` to a high number, close-on-exec. The old number is closed.
absl::StatusOr<UniqueFd> MoveHigh(UniqueFd fd);

absl::Status SetNonBlocking(int fd, bool on);

// A connected pair of Unix sockets; `type` is SOCK_STREAM or SOCK_SEQPACKET. Both high and
// close-on-exec.
absl::StatusOr<std::pair<UniqueFd, UniqueFd>> MakeSocketPair(int type);

struct Pipe {
  UniqueFd read;  // non-blocking
  UniqueFd write;
};
absl::StatusOr<Pipe> MakePipe();

// Fills those of the descriptors 0 to 2 that are closed: what is opened next would take their place,
// and be read as input or written to as output. Reading then meets the end, and writing fails with
// EBADF. To be called first of all.
void FillStandardDescriptors();

// Raises the soft limit of open files to the hard one: a host has eight for each session. To be
// called before threads and workers are started.
void RaiseOpenFileLimit();
// What the soft limit was before that, for processes that are not the host; 0 when it was not
// raised.
uint64_t OpenFileLimitBefore();

// Bytes that wait in a pipe; works at both ends.
uint64_t UnreadBytes(int pipe);

// Writes all of it, waiting as long as it takes. False when the reader is gone or the descriptor is
// bad.
bool WriteAll(int fd, std::string_view text);

// Anonymous memory of a fixed size. Sealed against shrink and grow: a process that shares it could
// otherwise truncate it and so SIGBUS a reader that has it mapped.
absl::StatusOr<UniqueFd> MakeSealedMemory(const char* name, size_t size);

// Anonymous file without a fixed size, for one side to write and the other to read back.
absl::StatusOr<UniqueFd> MakeMemoryFile(const char* name);

}  // namespace cellar
