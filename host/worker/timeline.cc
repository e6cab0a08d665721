#include "host/worker/timeline.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "host/base/fds.h"

namespace cellar::host {
namespace {

constexpr size_t kChunkSize = 64u << 10;

}  // namespace

Timeline::Timeline(wire::RingMemory ring, UniqueFd out, UniqueFd err, TextCallback on_text)
    : ring_(std::move(ring)),
      reader_(ring_),
      pipes_{{std::move(out), wire::StreamId::kStdout}, {std::move(err), wire::StreamId::kStderr}},
      on_text_(std::move(on_text)) {
  shared().reader_sleeps.store(1);
}

absl::StatusOr<bool> Timeline::Drain(absl::FunctionRef<void()> deliver_frames) {
  // How full the pipes are is asked before the ring's head: every record that was written before
  // one of those bytes is then in front of the head, and is emitted first. Stopping there also
  // keeps an endless writer from holding up the loop.
  uint64_t out_end = EndOf(pipes_[0]);
  uint64_t err_end = EndOf(pipes_[1]);
  CELLAR_ASSIGN_OR_RETURN(uint64_t head, reader_.Head());
  bool any = head != reader_.tail();
  deliver_frames();
  CELLAR_RETURN_IF_ERROR(DrainRingTo(head));
  DrainPipeTo(pipes_[0], out_end);
  DrainPipeTo(pipes_[1], err_end);
  Flush();
  return any;
}

absl::Status Timeline::DrainTo(const wire::Position& position) {
  CELLAR_ASSIGN_OR_RETURN(uint64_t head, reader_.Head());
  const uint64_t out_end = std::min(position.out, EndOf(pipes_[0]));
  const uint64_t err_end = std::min(position.err, EndOf(pipes_[1]));
  CELLAR_RETURN_IF_ERROR(DrainRingTo(std::min(position.ring, head)));
  DrainPipeTo(pipes_[0], out_end);
  DrainPipeTo(pipes_[1], err_end);
  Flush();
  return absl::OkStatus();
}

absl::Status Timeline::DrainRingTo(uint64_t end) {
  if (reader_.tail() >= end) return absl::OkStatus();
  // A record's position is not to be believed: behind the last byte that is there now, an endless
  // writer would be read for ever. What a true one names was in the pipe before the record was.
  const uint64_t out_end = EndOf(pipes_[0]);
  const uint64_t err_end = EndOf(pipes_[1]);
  while (true) {
    absl::StatusOr<bool> more = reader_.Read(end, record_);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (record_.pipes) {
      DrainPipeTo(pipes_[0], std::min(record_.pipes->out, out_end));
      DrainPipeTo(pipes_[1], std::min(record_.pipes->err, err_end));
    }
    Emit(record_.cell, record_.stream, record_.text);
  }
  reader_.Release();
  return absl::OkStatus();
}

uint64_t Timeline::EndOf(const PipeEnd& pipe) { return pipe.read + UnreadBytes(pipe.fd.get()); }

void Timeline::DrainPipeTo(PipeEnd& pipe, uint64_t offset) {
  std::array<char, wire::kMaxPipeRead> buffer;
  while (pipe.read < offset && !pipe.at_end) {
    // Odd while bytes are in neither count: the worker adds what we have read to what the pipe
    // still holds.
    shared().pipes_generation.fetch_add(1);
    ssize_t size =
        read(pipe.fd.get(), buffer.data(), std::min<uint64_t>(buffer.size(), offset - pipe.read));
    if (size > 0) {
      pipe.read += static_cast<uint64_t>(size);
      Publish();
    }
    shared().pipes_generation.fetch_add(1);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    if (size == 0) {
      pipe.at_end = true;
      return;
    }
    Emit(0, pipe.stream, std::string_view(buffer.data(), static_cast<size_t>(size)));
  }
}

void Timeline::Publish() {
  shared().out_read.store(pipes_[0].read);
  shared().err_read.store(pipes_[1].read);
}

void Timeline::Emit(uint32_t cell, wire::StreamId stream, std::string_view text) {
  if (cell != chunk_cell_ || stream != chunk_stream_ || chunk_.size() >= kChunkSize) {
    Flush();
    chunk_cell_ = cell;
    chunk_stream_ = stream;
  }
  chunk_.append(text);
}

void Timeline::Flush() {
  if (chunk_.empty()) return;
  std::string chunk;
  chunk.swap(chunk_);
  on_text_(chunk_cell_, chunk_stream_, chunk);
  chunk.clear();
  if (chunk_.empty()) chunk_.swap(chunk);  // keeps its memory
}

}  // namespace cellar::host
