#include "host/wire/ring.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

namespace cellar::wire {
namespace {

constexpr uint64_t kMask = kRingCapacity - 1;

uint64_t Padded(uint64_t size) { return (size + 7) & ~uint64_t{7}; }

uint64_t RecordSize(const RecordHeader& header) {
  return Padded(sizeof(RecordHeader) + (header.has_position ? 16 : 0) + header.size);
}

}  // namespace

absl::StatusOr<RingMemory> RingMemory::Map(std::optional<int> memory_fd) {
  RingMemory memory(nullptr);
  CELLAR_RETURN_IF_ERROR(memory.MapAt(memory_fd, 0));
  return memory;
}

RingMemory::RingMemory(RingMemory&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(base_, other.base_);
  return *this;
}

RingMemory::~RingMemory() {
  if (base_ != nullptr) munmap(base_, kRingMemorySize);
}

absl::Status RingMemory::Remap(std::optional<int> memory_fd) { return MapAt(memory_fd, MAP_FIXED); }

absl::Status RingMemory::MapAt(std::optional<int> memory_fd, int flags) {
  flags |= memory_fd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* base =
      mmap(base_, kRingMemorySize, PROT_READ | PROT_WRITE, flags, memory_fd.value_or(-1), 0);
  if (base == MAP_FAILED) return ErrnoStatus(errno, "mapping the ring");
  base_ = base;
  return absl::OkStatus();
}

bool RingWriter::TryWrite(StreamId stream, uint32_t cell, std::string_view text,
                          const std::optional<Position>& pipes) {
  RecordHeader record = {.size = static_cast<uint32_t>(text.size()),
                         .stream = stream,
                         .has_position = pipes.has_value(),
                         .cell = cell};
  uint64_t size = RecordSize(record);
  if (head_ + size - header_.tail.load(std::memory_order_acquire) > kRingCapacity) return false;
  uint64_t at = head_;
  Copy(at, &record, sizeof(record));
  at += sizeof(record);
  if (pipes) {
    uint64_t offsets[2] = {pipes->out, pipes->err};
    Copy(at, offsets, sizeof(offsets));
    at += sizeof(offsets);
  }
  Copy(at, text.data(), text.size());
  head_ += size;
  // seq_cst, with the reader's store to reader_sleeps: either it sees this record or we see that it
  // sleeps.
  header_.head.store(head_, std::memory_order_seq_cst);
  return true;
}

bool RingWriter::TakeDoorbellRequest() {
  return header_.reader_sleeps.load(std::memory_order_seq_cst) != 0 &&
         header_.reader_sleeps.exchange(0, std::memory_order_seq_cst) != 0;
}

void RingWriter::WaitForRoom(int milliseconds) {
  uint32_t seen = header_.room.load(std::memory_order_seq_cst);
  header_.writer_waits.store(1, std::memory_order_seq_cst);
  if (head_ - header_.tail.load(std::memory_order_seq_cst) > kRingCapacity / 2) {
    timespec timeout = {.tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1'000'000L};
    syscall(SYS_futex, &header_.room, FUTEX_WAIT, seen, &timeout, nullptr, 0);
  }
  header_.writer_waits.store(0, std::memory_order_relaxed);
}

void RingWriter::Copy(uint64_t at, const void* from, size_t size) {
  if (size == 0) return;
  size_t offset = at & kMask;
  size_t first = std::min(size, kRingCapacity - offset);
  std::memcpy(data_ + offset, from, first);
  std::memcpy(data_, static_cast<const char*>(from) + first, size - first);
}

absl::StatusOr<uint64_t> RingReader::Head() const {
  uint64_t head = header_.head.load(std::memory_order_acquire);
  if (head < tail_ || head - tail_ > kRingCapacity) {
    return absl::DataLossError("the worker's ring is damaged");
  }
  return head;
}

absl::StatusOr<bool> RingReader::Read(uint64_t end, Record& record) {
  if (tail_ >= end) return false;
  RecordHeader header;
  if (end - tail_ < sizeof(header)) return absl::DataLossError("the worker's ring is damaged");
  Copy(tail_, &header, sizeof(header));
  uint64_t size = RecordSize(header);
  if (header.size > RingWriter::kMaxRecordText || size > end - tail_ || header.zero != 0 ||
      header.has_position > 1 || header.zero2 != 0 ||
      (header.stream != StreamId::kStdout && header.stream != StreamId::kStderr)) {
    return absl::DataLossError("the worker's ring is damaged");
  }
  uint64_t at = tail_ + sizeof(header);
  record.stream = header.stream;
  record.cell = header.cell;
  record.pipes.reset();
  if (header.has_position) {
    uint64_t offsets[2];
    Copy(at, offsets, sizeof(offsets));
    at += sizeof(offsets);
    record.pipes = Position{.out = offsets[0], .err = offsets[1]};
  }
  record.text.resize(header.size);
  Copy(at, record.text.data(), header.size);
  tail_ += size;
  return true;
}

void RingReader::Release() {
  header_.tail.store(tail_, std::memory_order_seq_cst);
  if (header_.writer_waits.load(std::memory_order_seq_cst) != 0) {
    header_.room.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &header_.room, FUTEX_WAKE, 1, nullptr, nullptr, 0);
  }
}

bool RingReader::PrepareToSleep() {
  header_.reader_sleeps.store(1, std::memory_order_seq_cst);
  return header_.head.load(std::memory_order_seq_cst) == tail_;
}

void RingReader::Copy(uint64_t at, void* to, size_t size) const {
  size_t offset = at & kMask;
  size_t first = std::min(size, kRingCapacity - offset);
  std::memcpy(to, data_ + offset, first);
  std::memcpy(static_cast<char*>(to) + first, data_, size - first);
}

}  // namespace cellar::wire
