// The ring: memory that a worker and its host share, through which prints travel without a system
// call.
//
// One writer (the worker, under the GIL), one reader (the host). What has been committed stays
// readable after the writer is gone, even by SIGKILL. The reader trusts nothing in it: headers are
// copied before they are checked. The same page carries the few words by which host and worker
// speak outside the frames: which cell runs, which cell an interrupt is meant for, how much of the
// pipes has been read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/base/status.h"
#include "host/wire/position.h"

namespace cellar::wire {

inline constexpr size_t kRingCapacity = 1u << 20;  // a power of two

// The most that the host reads from a pipe before it says how much it has read.
inline constexpr size_t kMaxPipeRead = 64u << 10;

// Output streams as they stand in ring records and pipes.
enum class StreamId : uint8_t { kStdout = 1, kStderr = 2 };

struct RingHeader {
  alignas(64) std::atomic<uint64_t> head;  // bytes ever written; the worker's
  alignas(64) std::atomic<uint64_t> tail;  // bytes ever read; the host's
  // Host: "I sleep, ring the doorbell." Set before the host's last look at `head`, so no record is
  // missed.
  alignas(64) std::atomic<uint32_t> reader_sleeps;
  // Worker: "I wait for room." A futex on the host's `room` word wakes it.
  std::atomic<uint32_t> writer_waits;
  std::atomic<uint32_t> room;
  alignas(64) std::atomic<uint32_t> running_cell;  // the worker's; 0 between cells
  std::atomic<uint32_t> begun_cell;  // the worker's; the last that began, and perhaps ended
  // The worker's: the cell before whose code it ends, since no cell would come to its own.
  std::atomic<uint32_t> broken_before;
  // The cell a SIGINT is meant for: set by the host, set to 0 by the worker when it acts on it.
  std::atomic<uint32_t> interrupt_target;
  // The host's: the copy (Copy::request) whose fork hooks, and what runs before them, the insistent
  // signal is to end.
  std::atomic<uint32_t> copy_target;
  // The host's: the cell that the insistent signal is to make way for, if something keeps it from
  // beginning.
  std::atomic<uint32_t> way_target;
  alignas(64) std::atomic<uint32_t> pipes_generation;  // the host's; odd while it reads a pipe
  std::atomic<uint64_t> out_read;                      // bytes the host has taken from the pipes
  std::atomic<uint64_t> err_read;
  // Where each was when it last sent something. Who looks for an answer on the processor that the
  // other needs for it only delays it.
  alignas(64) std::atomic<int32_t> host_processor;
  alignas(64) std::atomic<int32_t> worker_processor;
};

inline constexpr size_t kRingDataOffset = 4096;
inline constexpr size_t kRingMemorySize = kRingDataOffset + kRingCapacity;
static_assert(sizeof(RingHeader) <= kRingDataOffset);

// In front of each record; records are padded to 8 bytes.
struct RecordHeader {
  uint32_t size;  // of the text
  StreamId stream;
  uint8_t has_position;  // 1: two uint64 follow, the pipe bytes that come before this record
  uint16_t zero;
  uint32_t cell;  // the cell that the writing code belongs to; 0 when not known
  uint32_t zero2;
};
static_assert(sizeof(RecordHeader) == 16);

// A mapping of the shared memory. Unmapped when destroyed.
class RingMemory {
 public:
  // Without a descriptor, memory of this process's own.
  static absl::StatusOr<RingMemory> Map(std::optional<int> memory_fd);
  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&& other) noexcept;
  ~RingMemory();

  // Puts other memory in the place of what is mapped, at the same address.
  absl::Status Remap(std::optional<int> memory_fd);

  RingHeader& header() const { return *static_cast<RingHeader*>(base_); }
  char* data() const { return static_cast<char*>(base_) + kRingDataOffset; }

 private:
  explicit RingMemory(void* base) : base_(base) {}
  absl::Status MapAt(std::optional<int> memory_fd, int flags);

  void* base_ = nullptr;
};

// The worker's side.
class RingWriter {
 public:
  explicit RingWriter(const RingMemory& memory)
      : header_(memory.header()), data_(memory.data()), head_(header_.head.load()) {}

  // The most text one record takes; longer text is written in pieces.
  static constexpr size_t kMaxRecordText = kRingCapacity / 4;

  // False when there is no room now. `pipes` is the position of the pipes, when it is worth
  // knowing.
  bool TryWrite(StreamId stream, uint32_t cell, std::string_view text,
                const std::optional<Position>& pipes);
  // Whether the host sleeps, i.e. must be told of what was just written. Clears the request.
  bool TakeDoorbellRequest();
  uint64_t head() const { return head_; }

  // Waits until the reader has made room, at most `milliseconds`; returns early on a signal.
  void WaitForRoom(int milliseconds);

 private:
  void Copy(uint64_t at, const void* from, size_t size);

  RingHeader& header_;
  char* data_;
  uint64_t head_;
};

struct Record {
  StreamId stream;
  uint32_t cell;
  std::optional<Position> pipes;  // `ring` is not set
  std::string text;
};

// The host's side.
class RingReader {
 public:
  explicit RingReader(const RingMemory& memory) : header_(memory.header()), data_(memory.data()) {}

  // Where the writer is now, or an error when the memory makes no sense.
  absl::StatusOr<uint64_t> Head() const;
  uint64_t tail() const { return tail_; }

  // Reads the next record into `record` (its text buffer is reused). False when the reader has come
  // to `end`.
  absl::StatusOr<bool> Read(uint64_t end, Record& record);
  // Hands the room of what was read back to the writer.
  void Release();

  // Asks for the doorbell. True when the ring is empty and the reader may sleep.
  bool PrepareToSleep();

 private:
  void Copy(uint64_t at, void* to, size_t size) const;

  RingHeader& header_;
  const char* data_;
  uint64_t tail_ = 0;
};

}  // namespace cellar::wire
