// One order for everything a worker prints: ring records and what was written to the pipes behind
// fd 1 and 2. Reads only what is there, never waits, and checks all of it; what cannot be is an
// error and the worker's end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "host/base/status.h"
#include "host/base/unique_fd.h"
#include "host/wire/ring.h"

namespace cellar::host {

class Timeline {
 public:
  // `cell` is 0 for what came through a pipe: nobody knows which cell's child wrote it.
  using TextCallback = absl::AnyInvocable<void(uint32_t cell, wire::StreamId, std::string_view)>;

  Timeline(wire::RingMemory ring, UniqueFd out, UniqueFd err, TextCallback on_text);

  // Emits whatever there is now. True when there was something in the ring. `deliver_frames` is
  // called in between: a frame that was sent before the last of it comes first, with what was
  // written before that frame.
  absl::StatusOr<bool> Drain(absl::FunctionRef<void()> deliver_frames);
  // Emits what was written up to `position`, and nothing later.
  absl::Status DrainTo(const wire::Position& position);

  // Asks for the doorbell. False when there is something to drain already.
  bool PrepareToSleep() { return reader_.PrepareToSleep(); }

  wire::RingHeader& shared() { return ring_.header(); }
  int out_fd() const { return pipes_[0].fd.get(); }
  int err_fd() const { return pipes_[1].fd.get(); }

 private:
  struct PipeEnd {
    UniqueFd fd;
    wire::StreamId stream;
    uint64_t read = 0;  // bytes since the worker started
    bool at_end = false;
  };

  absl::Status DrainRingTo(uint64_t end);
  // The offset behind the last byte that is in the pipe now.
  static uint64_t EndOf(const PipeEnd& pipe);
  void DrainPipeTo(PipeEnd& pipe, uint64_t offset);
  void Publish();
  void Emit(uint32_t cell, wire::StreamId stream, std::string_view text);
  void Flush();

  wire::RingMemory ring_;
  wire::RingReader reader_;
  PipeEnd pipes_[2];
  TextCallback on_text_;

  wire::Record record_;
  // Adjacent records of one stream and cell are handed on as one piece.
  uint32_t chunk_cell_ = 0;
  wire::StreamId chunk_stream_ = wire::StreamId::kStdout;
  std::string chunk_;
};

}  // namespace cellar::host
