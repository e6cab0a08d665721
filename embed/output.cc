#include "embed/output.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "host/base/fds.h"

namespace cellar::embed {
namespace {

constexpr int kRoomWaitMilliseconds = 50;
// How often to look again when the host is in the middle of reading a pipe.
constexpr int kPositionAttempts = 1000;
constexpr int kQuickAttempts = 100;

uint64_t Inode(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 ? info.st_ino : 0;
}

void MakeBlocking(int fd) {
  const int flags = fcntl(fd, F_GETFL);
  constexpr int kUnwanted = O_NONBLOCK | O_ASYNC;
  if (flags >= 0 && (flags & kUnwanted) != 0) fcntl(fd, F_SETFL, flags & ~kUnwanted);
}

}  // namespace

Output::Output(wire::RingMemory memory, UniqueFd doorbell, UniqueFd out, UniqueFd err)
    : memory_(std::move(memory)),
      writer_(memory_),
      doorbell_(std::move(doorbell)),
      out_(std::move(out)),
      err_(std::move(err)),
      out_inode_(Inode(out_.get())),
      err_inode_(Inode(err_.get())) {}

size_t Output::Write(wire::StreamId stream, uint32_t cell, std::string_view text) {
  text = text.substr(0, wire::RingWriter::kMaxRecordText);
  // Asking the kernel how full the pipes are costs two calls, so only where order can be at stake:
  // other writers may be about, or this is the first record after a pause.
  std::optional<wire::Position> pipes;
  bool reader_sleeps = shared().reader_sleeps.load(std::memory_order_relaxed) != 0;
  if (other_writers_ || reader_sleeps) pipes = CurrentPosition();
  if (!writer_.TryWrite(stream, cell, text, pipes)) {
    RingDoorbell();
    return 0;
  }
  if (writer_.TakeDoorbellRequest()) RingDoorbell();
  return text.size();
}

void Output::WaitForRoom() { writer_.WaitForRoom(kRoomWaitMilliseconds); }

wire::Position Output::CurrentPosition() const {
  wire::RingHeader& shared = memory_.header();
  wire::Position position;
  for (int attempt = 0; attempt < kPositionAttempts; ++attempt) {
    if (attempt > kQuickAttempts) sched_yield();  // the host may want this processor
    uint32_t before = shared.pipes_generation.load(std::memory_order_seq_cst);
    position = {.ring = writer_.head(),
                .out = shared.out_read.load(std::memory_order_seq_cst) + UnreadBytes(out_.get()),
                .err = shared.err_read.load(std::memory_order_seq_cst) + UnreadBytes(err_.get())};
    uint32_t after = shared.pipes_generation.load(std::memory_order_seq_cst);
    if (before == after && before % 2 == 0) return position;
  }
  // The host has not come to count what it has read last. Rather too much than too little: it reads
  // no further than to what there is.
  position.out += wire::kMaxPipeRead;
  position.err += wire::kMaxPipeRead;
  return position;
}

void Output::ExpectOtherWriters(bool forever) {
  other_writers_ = true;
  native_writers_ |= forever;
}

void Output::ForgetFinishedChildren() {
  if (!other_writers_ || native_writers_) return;
  siginfo_t info;
  other_writers_ = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

absl::Status Output::Adopt(int ring, int doorbell, int out, int err) {
  CELLAR_RETURN_IF_ERROR(Remap(ring));
  std::destroy_at(&writer_);
  std::construct_at(&writer_, memory_);
  Replace(doorbell, out, err);
  return absl::OkStatus();
}

absl::Status Output::Silence() {
  CELLAR_RETURN_IF_ERROR(Remap(std::nullopt));
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return ErrnoStatus(errno, "opening /dev/null");
  Replace(null.get(), null.get(), null.get());
  return absl::OkStatus();
}

// The host must be able to tell whether a cell has begun in a copy, too.
absl::Status Output::Remap(std::optional<int> ring) {
  const uint32_t begun = shared().begun_cell.load();
  CELLAR_RETURN_IF_ERROR(memory_.Remap(ring));
  shared().begun_cell.store(begun);
  return absl::OkStatus();
}

void Output::Replace(int doorbell, int out, int err) {
  dup3(doorbell, doorbell_.get(), O_CLOEXEC);
  dup3(out, out_.get(), O_CLOEXEC);
  dup3(err, err_.get(), O_CLOEXEC);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  out_inode_ = Inode(out);
  err_inode_ = Inode(err);
}

bool Output::RestoreDescriptors() {
  bool restored = false;
  // Children would lose what they write while the host is busy. asyncio sets it, and so may they.
  MakeBlocking(out_.get());
  MakeBlocking(err_.get());
  if (Inode(STDOUT_FILENO) != out_inode_) restored |= dup2(out_.get(), STDOUT_FILENO) >= 0;
  if (Inode(STDERR_FILENO) != err_inode_) restored |= dup2(err_.get(), STDERR_FILENO) >= 0;
  if (fcntl(STDIN_FILENO, F_GETFD) < 0) {
    UniqueFd null(open("/dev/null", O_RDONLY));
    if (null.get() == STDIN_FILENO) {
      null.release();
    } else if (null) {
      dup2(null.get(), STDIN_FILENO);
    }
    restored = true;
  }
  return restored;
}

void Output::RingDoorbell() { eventfd_write(doorbell_.get(), 1); }

void WriteDirect(wire::StreamId stream, std::string_view text) {
  WriteAll(stream == wire::StreamId::kStdout ? STDOUT_FILENO : STDERR_FILENO, text);
}

}  // namespace cellar::embed
