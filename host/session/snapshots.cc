#include "host/session/snapshots.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

// A session that has been idle that long is not in the middle of a burst of cells.
constexpr absl::Duration kIdle = absl::Milliseconds(5);
// Between the cells of a burst, snapshots may take a twentieth of the time.
constexpr int kCellsPerSnapshot = 20;
// For the fork itself, and about as much again for the pages that the next cell has to copy.
constexpr int kCostOfFork = 2;
// A worker that is busy with a background task must not hold up the next cell, which has a
// time-out.
constexpr absl::Duration kPatience = absl::Seconds(1);
// What cells have registered to run at a fork takes microseconds. If it takes that long while a
// cell waits, or while none does, it is ended.
constexpr absl::Duration kHooksLimit = absl::Milliseconds(200);
constexpr absl::Duration kIdleHooksLimit = absl::Seconds(1);
// While a cell runs it copies the pages that it writes to, and snapshots alone hold the old ones.
constexpr absl::Duration kMeasureBusyEvery = absl::Seconds(1);
// Between cells only what they have left running does.
constexpr absl::Duration kMeasureIdleEvery = absl::Minutes(1);

}  // namespace

// A session that has run nothing is worth a snapshot only to those who ask for each.
Snapshots::Snapshots(EventLoop& loop, SnapshotOptions options, SnapshotAccount* account)
    : loop_(loop),
      options_(options),
      account_(account != nullptr ? *account : own_account_),
      changed_(options.policy == SnapshotPolicy::kAlways) {
  account_.Add(*this);
}

Snapshots::~Snapshots() {
  lifeline_.Cut();
  account_.Remove(*this);
  loop_.Cancel(idle_timer_);
  loop_.Cancel(wait_timer_);
  loop_.Cancel(hooks_timer_);
  loop_.Cancel(measure_timer_);
}

void Snapshots::OnIdle(Worker& worker, uint32_t next_cell) {
  loop_.Cancel(idle_timer_);
  worker_pid_ = worker.pid();
  MeasureEvery(kMeasureIdleEvery);
  if (options_.policy == SnapshotPolicy::kAuto && changed_ && !held_up_) {
    idle_timer_ =
        loop_.After(kIdle, [this, &worker, next_cell] { Take(worker, next_cell, nullptr); });
  } else if (!memory_is_known_) {
    idle_timer_ = loop_.After(kIdle, [this] { MeasureNow(); });
  }
}

void Snapshots::OnBusy(Worker& worker) {
  loop_.Cancel(idle_timer_);
  frozen_ = false;
  worker_pid_ = worker.pid();
  memory_is_known_ = false;
  if (asked_) EndHooksAfter(worker, kHooksLimit);
  MeasureEvery(kMeasureBusyEvery);
}

void Snapshots::OnWorkerExit() {
  OnAnswer();
  loop_.Cancel(idle_timer_);
  loop_.Cancel(measure_timer_);
}

void Snapshots::OnCellDone(absl::Duration duration) {
  loop_.Cancel(measure_timer_);
  last_cell_ = duration;
  changed_ = true;
}

void Snapshots::OnValueSet() {
  changed_ = true;
  if (!entries_.empty()) entries_.back().moment.values_set_since = true;
}

bool Snapshots::WantedBeforeNextCell() const {
  if (held_up_) return false;
  switch (options_.policy) {
    case SnapshotPolicy::kAlways:
      return changed_;
    case SnapshotPolicy::kAuto:
      return changed_ && last_cell_ >= kCellsPerSnapshot * cost_;
    default:
      return false;
  }
}

void Snapshots::Take(Worker& worker, uint32_t next_cell, absl::AnyInvocable<void()> then) {
  loop_.Cancel(idle_timer_);
  changed_ = false;
  last_cell_ = absl::ZeroDuration();
  worker_pid_ = worker.pid();
  asked_ = true;
  EndHooksAfter(worker, then ? kHooksLimit : kIdleHooksLimit);
  if (!then) then = [] {};
  // Shared by the answer and the timer: whichever comes first goes on.
  auto go_on = std::make_shared<absl::AnyInvocable<void()>>(std::move(then));
  loop_.Cancel(wait_timer_);
  wait_timer_ = loop_.After(kPatience, [go_on] { std::exchange(*go_on, [] {})(); });
  const bool cautious = options_.policy == SnapshotPolicy::kAuto;
  Snapshot::Take(loop_, worker, cautious,
                 [this, alive = lifeline_.watch(), epoch = epoch_, next_cell,
                  go_on](absl::StatusOr<std::unique_ptr<Snapshot>> taken) {
                   if (!*alive) return;
                   loop_.Cancel(wait_timer_);
                   OnAnswer();
                   held_up_ = absl::IsDeadlineExceeded(taken.status());
                   if (!taken.ok()) {
                     refused_ = absl::StrCat("no snapshot before cell ", next_cell, ": ",
                                             taken.status().message());
                   } else if (epoch == epoch_ && !frozen_) {
                     Add(*std::move(taken), next_cell);
                   }
                   std::exchange(*go_on, [] {})();
                 });
}

void Snapshots::EndHooksAfter(Worker& worker, absl::Duration delay) {
  loop_.Cancel(hooks_timer_);
  // Again, since Python misses a signal that comes just before a blocking call.
  hooks_timer_ = loop_.After(delay, [this, &worker, delay] {
    worker.EndForkHooks();
    EndHooksAfter(worker, 2 * delay);
  });
}

void Snapshots::OnAnswer() {
  asked_ = false;
  loop_.Cancel(hooks_timer_);
}

void Snapshots::Add(std::unique_ptr<Snapshot> snapshot, uint32_t before_cell) {
  cost_ = kCostOfFork * snapshot->cost();
  refused_.clear();
  snapshot->WhenGone([this, alive = lifeline_.watch(), gone = snapshot.get()] {
    if (*alive) Drop(gone);
  });
  // The same moment as an earlier one but for values that were set since.
  if (Entry* same = Find(before_cell)) Drop(same->snapshot.get());
  const KeptSnapshot moment = {.before_cell = before_cell, .cost = snapshot->cost()};
  entries_.push_back({moment, std::move(snapshot)});
  if (entries_.size() >= options_.kept) dropped_.clear();
  if (entries_.size() > options_.kept) entries_.erase(entries_.begin());
  MeasureNow();
  MeasureEvery(measure_every_);  // before the first one there was nothing to measure
}

Snapshots::Entry* Snapshots::Newest() { return entries_.empty() ? nullptr : &entries_.back(); }

std::optional<uint32_t> Snapshots::OldestCell() const {
  return entries_.empty() ? std::nullopt : std::optional(entries_.front().moment.before_cell);
}

Snapshots::Entry* Snapshots::Find(uint32_t cell) {
  Entry* entry = FindOlderThan(cell + 1);
  return entry != nullptr && entry->moment.before_cell == cell ? entry : nullptr;
}

Snapshots::Entry* Snapshots::FindOlderThan(uint32_t cell) {
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->moment.before_cell < cell) return &*entry;
  }
  return nullptr;
}

Snapshots::Entry* Snapshots::Find(const Snapshot* snapshot) {
  for (Entry& entry : entries_) {
    if (entry.snapshot.get() == snapshot) return &entry;
  }
  return nullptr;
}

void Snapshots::Drop(const Snapshot* snapshot) {
  auto entry = std::find_if(entries_.begin(), entries_.end(), [snapshot](const Entry& each) {
    return each.snapshot.get() == snapshot;
  });
  if (entry == entries_.end()) return;
  // Who goes back further loses them too.
  if (entry != entries_.begin()) {
    std::prev(entry)->moment.values_set_since |= entry->moment.values_set_since;
  }
  entries_.erase(entry);
}

void Snapshots::OnRestored(uint32_t cell) {
  ++epoch_;
  frozen_ = held_up_ = false;
  std::erase_if(entries_, [cell](const Entry& entry) { return entry.moment.before_cell > cell; });
  if (Entry* entry = Newest()) entry->moment.values_set_since = false;
  changed_ = false;
  last_cell_ = absl::ZeroDuration();
}

void Snapshots::Clear() {
  ++epoch_;
  frozen_ = held_up_ = false;
  loop_.Cancel(idle_timer_);
  loop_.Cancel(measure_timer_);
  entries_.clear();
  refused_.clear();
  dropped_.clear();
  changed_ = options_.policy == SnapshotPolicy::kAlways;
}

SnapshotStatus Snapshots::status() const {
  SnapshotStatus status = {.memory = memory(), .note = refused_.empty() ? dropped_ : refused_};
  for (const Entry& entry : entries_) status.kept.push_back(entry.moment);
  return status;
}

void Snapshots::MeasureEvery(absl::Duration interval) {
  measure_every_ = interval;
  loop_.Cancel(measure_timer_);
  if (entries_.empty()) return;
  measure_timer_ = loop_.After(interval, [this, interval] {
    MeasureNow();
    MeasureEvery(interval);
  });
}

void Snapshots::MeasureNow() {
  if (entries_.empty()) return;
  memory_is_known_ = true;
  std::vector<int32_t> pids;
  for (const Entry& entry : entries_) pids.push_back(entry.snapshot->pid());
  pids.push_back(worker_pid_);
  Snapshot* asked = entries_.back().snapshot.get();
  measuring_ = asked;
  asked->Measure(pids, [this, alive = lifeline_.watch(), asked,
                        count = pids.size()](const std::vector<wire::Memory>& all) {
    if (*alive && asked == measuring_ && all.size() == count) OnMeasured(all);
  });
}

void Snapshots::OnMeasured(const std::vector<wire::Memory>& processes) {
  measuring_ = nullptr;
  // What the snapshots hold, less the part of it that is the worker's as well.
  const wire::Memory& worker = processes.back();
  if (worker.resident == 0)
    return;  // it ended meanwhile, and the pages are counted as theirs alone
  uint64_t total = 0;
  for (const wire::Memory& process : processes) total += process.proportional;
  memory_ = total > worker.resident ? total - worker.resident : 0;
  account_.Check();
}

uint64_t Snapshots::LimitOf(uint64_t available_memory) const {
  return static_cast<uint64_t>(options_.memory_share * static_cast<double>(available_memory));
}

bool Snapshots::CanGiveUp() {
  const bool is_measuring = Find(measuring_) != nullptr;
  return memory() > 0 && !frozen_ && !is_measuring;
}

void Snapshots::GiveUpOldest(uint64_t total, uint64_t limit) {
  dropped_ = absl::StrCat("the snapshot before cell ", entries_.front().moment.before_cell,
                          " was dropped: all snapshots together held ", total >> 20,
                          " MiB, more than the ", limit >> 20, " MiB they may");
  // Destroyed later: this may be a call from inside it.
  loop_.Post([oldest = std::move(entries_.front().snapshot)] {});
  entries_.erase(entries_.begin());
  MeasureNow();
}

}  // namespace cellar::host
