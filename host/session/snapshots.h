// The snapshots that a session keeps: when one is taken, which are dropped, and what they cost.
// Does not decide when to go back to one.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/session/kept_snapshots.h"
#include "host/session/snapshot_account.h"
#include "host/worker/snapshot.h"

namespace cellar::host {

class Snapshots {
 public:
  // `account`: see SessionOptions.
  Snapshots(EventLoop& loop, SnapshotOptions options, SnapshotAccount* account);
  ~Snapshots();
  Snapshots(const Snapshots&) = delete;

  // The session has nothing to do, and stands before `next_cell`.
  void OnIdle(Worker& worker, uint32_t next_cell);
  void OnBusy(Worker& worker);
  void OnWorkerExit();
  void OnCellDone(absl::Duration duration);
  void OnValueSet();

  // Whether the next cell should wait for a snapshot.
  bool WantedBeforeNextCell() const;
  // Takes one. `then` is called when the next cell need not wait any longer; null when none waits.
  void Take(Worker& worker, uint32_t next_cell, absl::AnyInvocable<void()> then);

  // A moment that can be gone back to, and its snapshot; valid until the loop's next turn.
  struct Entry {
    KeptSnapshot moment;
    std::unique_ptr<Snapshot> snapshot;
  };
  Entry* Newest();
  // Which cell the oldest stands before; nothing when none is kept.
  std::optional<uint32_t> OldestCell() const;
  // The one that stands directly before that cell, or null.
  Entry* Find(uint32_t cell);
  // The newest one that stands before an earlier cell, or null.
  Entry* FindOlderThan(uint32_t cell);
  // Null when it has been dropped.
  Entry* Find(const Snapshot* snapshot);

  void Drop(const Snapshot* snapshot);
  // The session is about to go back to one of them: none is added or dropped for want of room until
  // it has, or runs on.
  void Freeze() { frozen_ = true; }
  // The session has gone back to before `cell`: what came later never happened.
  void OnRestored(uint32_t cell);
  void Clear();

  SnapshotStatus status() const;

  // Bytes that only they hold, when last measured.
  uint64_t memory() const { return entries_.empty() ? 0 : memory_; }
  // How much all of the account may hold together.
  uint64_t LimitOf(uint64_t available_memory) const;
  // Whether the oldest can be given up, and that would free something.
  bool CanGiveUp();
  // Because the account held more than its limit.
  void GiveUpOldest(uint64_t total, uint64_t limit);

 private:
  void EndHooksAfter(Worker& worker, absl::Duration delay);
  void OnAnswer();
  void Add(std::unique_ptr<Snapshot> snapshot, uint32_t before_cell);
  void MeasureEvery(absl::Duration interval);
  void MeasureNow();
  void OnMeasured(const std::vector<wire::Memory>& processes);

  EventLoop& loop_;
  SnapshotOptions options_;
  SnapshotAccount own_account_;  // where none is shared
  SnapshotAccount& account_;
  std::vector<Entry> entries_;  // oldest first
  bool changed_;                // since the newest was taken, or asked for
  bool frozen_ = false;
  bool asked_ = false;    // for one, and not answered yet
  bool held_up_ = false;  // by what cells do at a fork: no more are taken of this worker
  absl::Duration last_cell_;
  absl::Duration cost_ = absl::Milliseconds(1);  // of the last one
  int worker_pid_ = -1;
  uint64_t memory_ = 0;
  bool memory_is_known_ = true;          // nothing has run since it was measured
  const Snapshot* measuring_ = nullptr;  // the one that was asked, and may be gone
  std::string refused_;                  // why the last one could not be taken, or empty
  std::string dropped_;                  // why there are fewer than options_.kept, or empty
  EventLoop::TimerId idle_timer_ = 0;
  EventLoop::TimerId wait_timer_ = 0;
  EventLoop::TimerId hooks_timer_ = 0;
  EventLoop::TimerId measure_timer_ = 0;
  absl::Duration measure_every_;
  // Counts what makes answers to earlier requests worthless: a snapshot asked for before a restore.
  uint64_t epoch_ = 0;
  Lifeline lifeline_;
};

}  // namespace cellar::host
