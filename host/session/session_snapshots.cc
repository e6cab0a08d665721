// The part of a session that goes back to snapshots: after a death, when asked to, and in branches.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "host/session/session.h"

namespace cellar::host {
namespace {

// For a copy to begin to run. It takes milliseconds, but memory may be short and disks slow.
constexpr absl::Duration kRestoreLimit = absl::Seconds(3);
// For what cells have registered to run in a copy when it begins.
constexpr absl::Duration kHooksLimit = absl::Milliseconds(300);
// A branch may have to wait for what the loop is busy with.
constexpr absl::Duration kBranchLimit = absl::Seconds(10);
// As kRestoreLimit, where what an earlier cell has left kept a cell from beginning: the copy most
// likely has it too, and somebody has waited for long.
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

}  // namespace

void Session::TakeSnapshotFirst(Job next) {
  taking_snapshot_ = true;
  queue_.push_front(std::move(next));
  snapshots_.Take(*worker_, next_cell_, [this, alive = alive_] {
    // Posted: the worker may be about to tell of its end.
    loop_.Post([this, alive] {
      if (!*alive) return;
      taking_snapshot_ = false;
      Pump();
    });
  });
}

// True when a copy of a snapshot is being made that will go on in the worker's place. What it
// cannot be made of is dropped.
bool Session::StartRestore(WorkerExit& exit, bool restore_failed) {
  if (restore_failed) {
    snapshots_.Drop(restore_->from);
    loop_.Cancel(restore_->limit_timer);
    restore_.reset();
  }
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
  snapshots_.Hold();
  absl::StatusOr<std::unique_ptr<Worker>> worker = entry->snapshot->Restore(*worker_, *this);
  if (!worker.ok()) {
    // No descriptors, most likely: there is nothing left to try.
    if (rewind_) std::exchange(rewind_, std::nullopt)->done(worker.status());
    snapshots_.Clear();
    return false;
  }
  loop_.Post([former = std::exchange(worker_, *std::move(worker))] {});
  ConnectBridge();
  worker_ready_ = false;
  const bool is_suspect = cells_.OuterRuns() && cells_.outer->had_not_begun;
  const absl::Duration limit = is_suspect ? kSuspectLimit : kRestoreLimit;
  restore_ = Restore{.from = entry->snapshot.get(),
                     .moment = entry->moment,
                     .exit = exit,
                     .limit_timer = loop_.After(kHooksLimit, [this, limit] {
                       worker_->EndForkHooks();
                       restore_->limit_timer =
                           loop_.After(limit - kHooksLimit, [this] { worker_->GiveUp(); });
                     })};
  return true;
}

// The copy goes on: only now is it true that the state is restored.
void Session::FinishRestore() {
  Restore restore = *std::exchange(restore_, std::nullopt);
  loop_.Cancel(restore.limit_timer);
  const bool in_cell = cells_.OuterRuns();
  // Of a restore that nobody has been told of, all that was undone is undone still.
  untold_end_ = restored_note_.empty() ? next_cell_ : std::max(untold_end_, next_cell_);
  std::string description = DescribeRestored(restore);
  had_cells_ = true;
  untried_ = restore.from;
  next_cell_ = restore.moment.before_cell;
  snapshots_.OnRestored(restore.moment.before_cell);
  RestoreVariables();
  if (running_value_) TakeRunningValue().done(absl::UnavailableError("the worker " + description));
  if (!in_cell) restored_note_ = rewind_ ? "" : "the worker " + description;
  if (in_cell) {
    const bool is_before_cell = next_cell_ == cells_.outer->number();
    OnDeathInCell(std::move(restore.exit), Recovery{.state = StateAfter::kRestored,
                                                    .detail = std::move(description),
                                                    .is_before_cell = is_before_cell});
  }
  if (rewind_) {
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
  const absl::Status closed = absl::CancelledError("the session was closed");
  if (restore_) loop_.Cancel(restore_->limit_timer);
  restore_.reset();
  if (rewind_) std::exchange(rewind_, std::nullopt)->done(closed);
  if (branching_ != nullptr && branching_->branched_) branching_->FinishBranch(closed);
}

void Session::TellNotCarried(CellOutcome& outcome) const {
  if (worker_->not_carried().empty()) return;
  outcome.notices.push_back("not in a snapshot, and so not restored: " +
                            absl::StrJoin(worker_->not_carried(), ", "));
}

std::string Session::DescribeRestored(const Restore& restore) {
  const bool in_cell = cells_.OuterRuns();
  const bool killed = in_cell && cells_.Innermost()->killed;
  std::string text = rewind_  ? "ended by a rewind"
                     : killed ? cells_.Innermost()->DescribeKill()
                              : restore.exit.Describe() + PlaceOfDeath(restore.exit.python_stack);
  const uint32_t before = restore.moment.before_cell;
  absl::StrAppend(&text, "; state is that of before cell ", before);
  std::string undone = DescribeUndone(before, in_cell ? cells_.outer->number() : untold_end_);
  if (!undone.empty()) absl::StrAppend(&text, ": ", undone);
  if (restore.moment.values_set_since) {
    absl::StrAppend(&text, ", and values that were set since then");
  }
  return text;
}

void Session::Rewind(std::optional<uint32_t> cell, RewindCallback done) {
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
  rewind_ = RewindRequest{.to = entry->snapshot.get(), .done = std::move(done)};
  snapshots_.Hold();
  worker_->Kill();
}

void Session::Branch(BranchOptions options, BranchCallback done) {
  Enqueue(BranchJob{options, std::move(done)});
}

void Session::Start(BranchJob job) {
  SessionOptions options = options_;
  SessionVariables variables = variables_;
  if (job.options.before_cell) variables.UndoSince(*job.options.before_cell);
  options.environment = variables.all();
  options.fresh_reason.clear();
  options.relieve = nullptr;  // that is the original's; whoever takes the branch sets its own
  if (!job.options.id.empty()) options.id = job.options.id;
  branching_ = std::make_unique<Session>(loop_, templates_, storage_, std::move(options));
  Session& branch = *branching_;
  branch.StartAsBranch(
      *this, job.options,
      [this, alive = alive_, done = std::move(job.done)](absl::StatusOr<Branched> made) mutable {
        // Posted: this is a call from inside the branch, which may have failed and must go.
        loop_.Post([this, alive, made = std::move(made), done = std::move(done)]() mutable {
          if (!*alive) return done(absl::CancelledError("the session was closed"));
          std::unique_ptr<Session> branch = std::move(branching_);
          if (made.ok() && closing_) made = absl::CancelledError("the session was closed");
          if (made.ok()) made->session = std::move(branch);
          done(std::move(made));
          Pump();
        });
      });
}

void Session::StartAsBranch(Session& source, const BranchOptions& options, BranchCallback done) {
  branched_ = std::move(done);
  template_ = source.template_;
  next_cell_ = options.before_cell.value_or(source.next_cell_);
  had_cells_ = true;
  told_opening_ = true;
  absl::StatusOr<std::unique_ptr<Worker>> worker;
  if (!options.before_cell) {
    worker = BranchWorker(loop_, *source.worker_, !options.same_random, *this);
  } else if (Snapshots::Entry* entry = source.snapshots_.Find(*options.before_cell)) {
    worker = entry->snapshot->Branch(*source.worker_, !options.same_random, *this);
  } else {
    worker =
        absl::NotFoundError(absl::StrCat("no snapshot stands before cell ", *options.before_cell));
  }
  if (!worker.ok()) return FinishBranch(worker.status());
  worker_ = *std::move(worker);
  ConnectBridge();
  branch_timer_ = loop_.After(kHooksLimit, [this, &source] {
    if (source.worker_ != nullptr) source.worker_->EndForkHooks();
    worker_->EndForkHooks();
    branch_timer_ = loop_.After(kBranchLimit - kHooksLimit, [this] { worker_->GiveUp(); });
  });
}

void Session::FinishBranch(absl::Status status) {
  loop_.Cancel(branch_timer_);
  BranchCallback done = std::exchange(branched_, nullptr);
  if (!status.ok()) return done(status);
  snapshots_.OnCellDone(absl::ZeroDuration());
  done(Branched{.standing = {.before_cell = next_cell_, .not_carried = worker_->not_carried()}});
}

}  // namespace cellar::host
