// The worker's side of output: prints into the ring, the doorbell, and the position of ring and
// pipes by which the host puts both into one order. Knows no Python; every call but WriteDirect is
// made under the GIL.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/base/unique_fd.h"
#include "host/wire/ring.h"

namespace cellar::embed {

class Output {
 public:
  Output(wire::RingMemory memory, UniqueFd doorbell, UniqueFd out, UniqueFd err);

  // Takes as much of `text` as there is room for and returns how much that was. Zero: wait for
  // room, try again.
  size_t Write(wire::StreamId stream, uint32_t cell, std::string_view text);
  // Waits a moment for room. To be called without the GIL; returns early when a signal comes.
  void WaitForRoom();

  wire::Position CurrentPosition() const;
  wire::RingHeader& shared() { return memory_.header(); }

  // Someone other than the streams may now write to fd 1 and 2: a child process, C code, or a file
  // of a cell's own.
  void ExpectOtherWriters(bool forever);
  // At the start of a cell: true again only when a child is still there.
  void ForgetFinishedChildren();

  // In a copy of this process: puts the new descriptors in the place of the old, under the same
  // numbers, or nothing at all, for one that sleeps. What 1 and 2 are is replaced too.
  absl::Status Adopt(int ring, int doorbell, int out, int err);
  absl::Status Silence();
  uint64_t out_inode() const { return out_inode_; }
  uint64_t err_inode() const { return err_inode_; }
  // Its descriptors, without 1 and 2.
  std::vector<int> fds() const { return {doorbell_.get(), out_.get(), err_.get()}; }

  // Puts the captured pipes back onto 1 and 2 if a cell closed or replaced them. True when it had
  // to.
  bool RestoreDescriptors();

 private:
  void RingDoorbell();
  absl::Status Remap(std::optional<int> ring);
  void Replace(int doorbell, int out, int err);

  wire::RingMemory memory_;
  wire::RingWriter writer_;
  UniqueFd doorbell_;
  UniqueFd out_;  // copies of what 1 and 2 were at the start
  UniqueFd err_;
  uint64_t out_inode_;
  uint64_t err_inode_;
  bool other_writers_ = false;
  bool native_writers_ = false;
};

// Straight to fd 1 or 2, for a process forked by a cell.
void WriteDirect(wire::StreamId stream, std::string_view text);

}  // namespace cellar::embed
