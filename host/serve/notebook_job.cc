#include "host/serve/notebook_job.h"

#include <utility>

#include "host/base/status.h"

namespace cellar::host {
namespace {

absl::StatusOr<PreparedRun> Prepare(const NotebookRunRequest& request) {
  CELLAR_RETURN_IF_ERROR(CheckNotebookFiles({request.file}));
  return PrepareRun(request);
}

}  // namespace

NotebookJob::NotebookJob(EventLoop& loop, SessionRegistry& registry, TaskThread& files,
                         NotebookSessionRun request, CallStream* stream, DoneCallback done)
    : loop_(loop),
      registry_(registry),
      files_(files),
      request_(std::move(request)),
      stream_(stream),
      done_(std::move(done)) {}

NotebookJob::~NotebookJob() {
  *alive_ = false;
  if (runner_ != nullptr) (void)runner_->SaveNow();
}

void NotebookJob::Start() {
  files_.Run([this, alive = alive_, loop = &loop_, request = request_.run] {
    loop->Post([this, alive, prepared = Prepare(request)]() mutable {
      if (*alive) OnPrepared(std::move(prepared));
    });
  });
}

void NotebookJob::OnPrepared(absl::StatusOr<PreparedRun> prepared) {
  if (cancelled_) return FinishUnstarted();
  if (!prepared.ok()) return Finish(prepared.status());
  prepared_.emplace(*std::move(prepared));
  const std::string folder = FolderOf(request_.run.file);
  const bool is_own = request_.session.empty();
  ticket_ = registry_.Acquire({.id = request_.session,
                               .cwd = is_own ? folder : "",
                               .opening_cwd = folder,
                               .opening_interpreter = request_.interpreter,
                               .per_call = is_own,
                               .owner = request_.owner},
                              [this, alive = alive_](absl::StatusOr<SessionHold> hold) {
                                if (*alive) OnHold(std::move(hold));
                              });
}

void NotebookJob::OnHold(absl::StatusOr<SessionHold> hold) {
  if (cancelled_) return FinishUnstarted();
  if (!hold.ok()) return Finish(hold.status());
  hold_.emplace(*std::move(hold));
  if (stream_ != nullptr) stream_->TellPlan(prepared_->options.cells);
  runner_ = std::make_unique<NotebookRunner>(
      loop_, hold_->session(), std::move(prepared_->document), std::move(prepared_->target),
      std::move(prepared_->options), static_cast<NotebookRunObserver&>(*this),
      [this](const absl::Status& status) {
        if (!status.ok()) return Finish(status);
        Finish(Outcome{runner_->result(), runner_->path(), runner_->SaveNow()});
      });
  runner_->Start();
}

void NotebookJob::Cancel() {
  cancelled_ = true;
  if (runner_ != nullptr) {
    runner_->Cancel();
  } else {
    registry_.Withdraw(ticket_);
  }
}

void NotebookJob::Abandon() {
  stream_ = nullptr;
  Cancel();
}

void NotebookJob::FinishUnstarted() {
  Finish(Outcome{.result = {.interrupted = true}, .file = request_.run.file});
}

// Posted, because the runner must not be destroyed in a call that it makes.
void NotebookJob::Finish(absl::StatusOr<Outcome> outcome) {
  loop_.Post([this, alive = alive_, outcome = std::move(outcome)]() mutable {
    if (!*alive) return;
    runner_.reset();
    hold_.reset();
    DoneCallback done = std::move(done_);
    done(std::move(outcome));
  });
}

void NotebookJob::OnCellStarted(size_t, size_t cell) {
  if (stream_ != nullptr) stream_->OnCellStarted(cell, {});
}

void NotebookJob::OnText(Stream stream, std::string_view text) {
  if (stream_ != nullptr) stream_->OnText(stream, text);
}

void NotebookJob::OnDisplay(const wire::Display& display) {
  if (stream_ != nullptr) stream_->OnDisplay(display);
}

void NotebookJob::OnCellFinished(size_t cell, const CellOutcome& outcome, bool) {
  if (stream_ == nullptr) return;
  stream_->OnCellFinished(cell, {.status = RunStatusOf(outcome.status), .outcome = outcome});
}

}  // namespace cellar::host
