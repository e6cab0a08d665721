// Writes artifacts on a thread of its own, so that the thread that has the bytes never waits for
// the disk. What is written, and when, is decided by the owner of each Spill.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "host/output/artifacts.h"

namespace cellar::host {

// The thread. One serves all spills of a host, in turn. Outlives its spills; its destructor
// finishes what was closed.
class SpillWriter {
 public:
  SpillWriter();
  ~SpillWriter();
  SpillWriter(const SpillWriter&) = delete;
  SpillWriter& operator=(const SpillWriter&) = delete;

 private:
  friend class Spill;
  struct Job;

  void Run();
  void Enqueue(Job* job);
  void Settle(Job* job);

  std::mutex mutex_;  // guards the members below and the jobs; never held during I/O
  std::condition_variable has_work_;
  std::deque<Job*> queue_;
  bool stopping_ = false;
  std::thread thread_;
};

struct SpillFacts {
  std::string id;  // empty: there is no artifact
  std::string path;
  uint64_t written_bytes = 0;
  uint64_t missing_bytes = 0;  // appended, but not written (or not yet)
  std::string error;           // why bytes are missing
};

// One artifact being written. It holds a prefix of what was appended: the first thing that goes
// wrong ends it.
//
// The memory of a spill is bounded in two steps. When kPauseBytes wait for the disk, WantsPause()
// asks the owner to stop reading from the worker, whose prints then block: backpressure. What comes
// nevertheless (it was read already, or the worker has died and its last words must be taken) is
// taken up to max_waiting_bytes; beyond, bytes are missing, and the facts say so.
//
// Used by one thread. `on_progress` is called when WantsPause() or IsSettled() has changed, on the
// writer's thread or, by what ends the spill, on its owner's. The writer's lock is held, so it may
// only post. It is never called after the destructor, which does not wait.
class Spill {
 public:
  static constexpr size_t kPauseBytes = size_t{2} << 20;
  static constexpr size_t kMaxWaitingBytes = size_t{16} << 20;

  struct Options {
    std::string extension = "log";
    uint64_t max_bytes = uint64_t{1} << 30;
    size_t max_waiting_bytes = kMaxWaitingBytes;
    std::function<void()> on_progress;
  };

  Spill(SpillWriter* writer, const ArtifactStore& store, Options options);
  // Without Close before it the artifact is removed.
  ~Spill();
  Spill(const Spill&) = delete;
  Spill& operator=(const Spill&) = delete;

  // Never blocks, never fails. Not after Close or Discard.
  void Append(std::string_view bytes);

  // Nothing more comes; the artifact stays.
  void Close();

  // Nothing more comes; the artifact is removed, also one that was closed.
  void Discard();

  bool WantsPause() const;

  // After Close or Discard: all that can be written is written, so Facts() is final.
  bool IsSettled() const;

  SpillFacts Facts() const;

 private:
  void End(bool keep);

  SpillWriter* writer_;
  SpillWriter::Job* job_;
};

}  // namespace cellar::host
