// The part of a session that goes back to snapshots: after a death, and when asked to.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/session/session.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

// For a copy to begin to run. It takes milliseconds, but memory may be short and disks slow.
constexpr absl::Duration kRestoreLimit = absl::Seconds(3);
// As kRestoreLimit, where what an earlier cell has left kept a cell from beginning, or a newer
// copy: this one most likely has it too, and somebody has waited for long.
constexpr absl::Duration kSuspectLimit = absl::Seconds(1);

// " in <cell 40> line 3", from the stack that faulthandler wrote; or nothing.
std::string PlaceOfDeath(const std::string& python_stack) {
  constexpr absl::string_view kFrame = "File \"<cell ";
  size_t frame = python_stack.find(kFrame.data(), 0, kFrame.size());
  if (frame == std::string::npos) return "";
  unsigned cell = 0, line = 0;
  if (std::sscanf(python_stack.c_str() + frame, "File \"<cell %u>\", line %u", &cell, &line) != 2) {
    return "";
  }
  return absl::StrCat(" in <cell ", cell, "> line ", line);
}

// "cell 3 is undone", "cells 3 and 4 are undone", "cells 3 to 9 are undone"; nothing for no cells.
std::string DescribeUndone(uint32_t first, uint32_t end) {
  if (first >= end) return "";
  if (first + 1 == end) return absl::StrCat("cell ", first, " is undone");
  return absl::StrCat("cells ", first, first + 2 == end ? " and " : " to ", end - 1, " are undone");
}

// "; state is that of before cell 3: cell 3 is undone".
std::string DescribeStand(const KeptSnapshot& moment, uint32_t undone_end) {
  std::string text = absl::StrCat("; state is that of before cell ", moment.before_cell);
  const std::string undone = DescribeUndone(moment.before_cell, undone_end);
  if (!undone.empty()) absl::StrAppend(&text, ": ", undone);
  if (moment.values_set_since) absl::StrAppend(&text, ", and values that were set since then");
  return text;
}

}  // namespace

void Session::TakeSnapshotFirst(Job next) {
  taking_snapshot_ = true;
  queue_.push_front(std::move(next));
  snapshots_.Take(*worker_, next_cell_, [this, alive = lifeline_.watch()] {
    // Posted: the worker may be about to tell of its end.
    loop_.Post([this, alive] {
      if (!*alive) return;
      taking_snapshot_ = false;
      Pump();
    });
  });
}

// True when a copy of a snapshot is being made that will go on in the worker's place.
bool Session::StartRestore(WorkerExit& exit, bool again) {
  Snapshots::Entry* entry = snapshots_.Newest();
  if (rewind_) {
    entry = snapshots_.Find(rewind_->to);
    if (entry == nullptr) {
      std::exchange(rewind_, std::nullopt)
          ->done(absl::UnavailableError("the snapshot could not be woken"));
      exit.reason = "for a rewind whose snapshot could not be woken";
      entry = snapshots_.Newest();
    }
  }
  if (entry == nullptr) return false;
  snapshots_.Freeze();
  absl::StatusOr<std::unique_ptr<Worker>> worker = entry->snapshot->Restore(*worker_, *this);
  if (!worker.ok()) {
    // No descriptors, most likely: there is nothing left to try.
    if (rewind_) std::exchange(rewind_, std::nullopt)->done(worker.status());
    snapshots_.Clear();
    return false;
  }
  Employ(*std::move(worker));
  const bool is_suspect = again || (cells_.OuterRuns() && cells_.outer->had_not_begun);
  const absl::Duration limit = is_suspect ? kSuspectLimit : kRestoreLimit;
  restore_ = Restore{.from = entry->snapshot.get(),
                     .moment = entry->moment,
                     .exit = exit,
                     .limit_timer = loop_.After(kCopyHooksLimit, [this, limit] {
                       worker_->EndForkHooks();
                       restore_->limit_timer =
                           loop_.After(limit - kCopyHooksLimit, [this] { worker_->GiveUp(); });
                     })};
  return true;
}

// The copy goes on: only now is it true that the state is restored.
void Session::FinishRestore() {
  Restore restore = *std::exchange(restore_, std::nullopt);
  loop_.Cancel(restore.limit_timer);
  const bool in_cell = cells_.OuterRuns();
  const bool rewinds = rewind_.has_value();
  const uint32_t undone_end = in_cell ? cells_.outer->number() : untold_.UndoneEnd(next_cell_);
  std::string description = DescribeRestored(restore, undone_end);
  StandBefore(restore.moment.before_cell, /*had_cells=*/true, restore.from);
  snapshots_.OnRestored(restore.moment.before_cell);
  RestoreVariables();
  if (in_cell) {
    const bool is_before_cell =
        next_cell_ == cells_.outer->number() && !restore.moment.values_set_since;
    OnDeathInCell(std::move(restore.exit), Recovery{.state = StateAfter::kRestored,
                                                    .detail = std::move(description),
                                                    .is_before_cell = is_before_cell});
  } else {
    if (!rewinds) {
      untold_.OnRestored("the worker " + description, worker_->not_carried(), undone_end);
    } else if (rewind_->is_news) {
      untold_.OnRestored("the session was rewound" + DescribeStand(restore.moment, undone_end),
                         worker_->not_carried(), undone_end);
    } else {
      untold_.OnRewound();
    }
    if (value_.pending()) {
      value_.Take().done(absl::UnavailableError("the worker " + description));
    }
  }
  // Who has heard of an end may have closed the session, or asked for another rewind.
  if (rewinds && rewind_) {
    RewindCallback done = std::move(std::exchange(rewind_, std::nullopt)->done);
    done(
        Standing{.before_cell = restore.moment.before_cell, .not_carried = worker_->not_carried()});
  }
  Pump();
}

// Variables of a call stay, though the cells that it came with are undone; unless that was asked
// for.
void Session::RestoreVariables() {
  if (rewind_) return variables_.UndoSince(next_cell_);
  std::vector<wire::EnvironmentEntry> later = variables_.SetSince(next_cell_);
  if (!later.empty()) worker_->Send(wire::Enter{.environment = std::move(later)});
}

// The session is closed while it goes back to a snapshot, or while another branches off.
void Session::AbandonRestoring() {
  if (restore_) loop_.Cancel(restore_->limit_timer);
  restore_.reset();
  if (rewind_) std::exchange(rewind_, std::nullopt)->done(SessionClosed());
  if (branching_ != nullptr && branching_->branched_) branching_->FinishBranch(SessionClosed());
}

std::string Session::DescribeRestored(const Restore& restore, uint32_t undone_end) const {
  const bool in_cell = cells_.OuterRuns();
  const bool killed = in_cell && cells_.Innermost()->killed;
  std::string text = rewind_  ? "ended by a rewind"
                     : killed ? cells_.Innermost()->DescribeKill()
                              : restore.exit.Describe() + PlaceOfDeath(restore.exit.python_stack);
  return text + DescribeStand(restore.moment, undone_end);
}

void Session::Rewind(std::optional<uint32_t> cell, RewindCallback done, bool is_news) {
  if (closing_) return done(absl::FailedPreconditionError("the session is closed"));
  if (restore_ || rewind_ || resetting_) {
    return done(absl::UnavailableError("the session is being restored or reset"));
  }
  Snapshots::Entry* entry = cell ? snapshots_.Find(*cell) : snapshots_.FindOlderThan(next_cell_);
  if (entry == nullptr || worker_ == nullptr) {
    std::vector<std::string> kept;
    for (const KeptSnapshot& moment : snapshots_.status().kept) {
      kept.push_back(std::to_string(moment.before_cell));
    }
    return done(absl::NotFoundError(absl::StrCat(
        "no snapshot stands before ", cell ? absl::StrCat("cell ", *cell) : "the last cell",
        kept.empty() ? "; none is kept"
                     : absl::StrCat("; the kept ones stand before ", absl::StrJoin(kept, ", ")))));
  }
  rewind_ = RewindRequest{.to = entry->snapshot.get(), .done = std::move(done), .is_news = is_news};
  snapshots_.Freeze();
  worker_->Kill();
}

}  // namespace cellar::host
