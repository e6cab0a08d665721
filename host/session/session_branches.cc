// The part of a session that branches: another session goes on from its state by itself.
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/session/session.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

// A branch may have to wait for what the loop is busy with.
constexpr absl::Duration kBranchLimit = absl::Seconds(10);

}  // namespace

void Session::Branch(BranchOptions options, BranchedCallback done) {
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
      [this, alive = lifeline_.watch(),
       done = std::move(job.done)](absl::StatusOr<Branched> made) mutable {
        // Posted: this is a call from inside the branch, which may have failed and must go.
        loop_.Post([this, alive, made = std::move(made), done = std::move(done)]() mutable {
          if (!*alive) return done(SessionClosed());
          std::unique_ptr<Session> branch = std::move(branching_);
          if (made.ok() && closing_) made = SessionClosed();
          if (made.ok()) made->session = std::move(branch);
          done(std::move(made));
          Pump();
        });
      });
}

void Session::StartAsBranch(Session& source, const BranchOptions& options, BranchedCallback done) {
  branched_ = std::move(done);
  template_ = source.template_;
  StandBefore(options.before_cell.value_or(source.next_cell_), /*had_cells=*/true,
              /*copy_of=*/nullptr);
  told_opening_ = true;
  absl::StatusOr<std::unique_ptr<Worker>> worker;
  if (!options.before_cell) {
    untold_ = source.untold_;  // it stands where the original does, and so does who expects more
    worker = BranchWorker(loop_, *source.worker_, !options.same_random, *this);
  } else if (Snapshots::Entry* entry = source.snapshots_.Find(*options.before_cell)) {
    worker = entry->snapshot->Branch(*source.worker_, !options.same_random, *this);
  } else {
    worker =
        absl::NotFoundError(absl::StrCat("no snapshot stands before cell ", *options.before_cell));
  }
  if (!worker.ok()) return FinishBranch(worker.status());
  Employ(*std::move(worker));
  branch_timer_ = loop_.After(kCopyHooksLimit, [this, &source] {
    if (source.worker_ != nullptr) source.worker_->EndForkHooks();
    worker_->EndForkHooks();
    branch_timer_ = loop_.After(kBranchLimit - kCopyHooksLimit, [this] { worker_->GiveUp(); });
  });
}

void Session::FinishBranch(absl::Status status) {
  loop_.Cancel(branch_timer_);
  BranchedCallback done = std::exchange(branched_, nullptr);
  if (!status.ok()) return done(status);
  snapshots_.OnCellDone(absl::ZeroDuration());
  done(Branched{.standing = {.before_cell = next_cell_, .not_carried = worker_->not_carried()}});
}

}  // namespace cellar::host
