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

NotebookJob::NotebookJob(EventLoop& loop, SessionRegistry& registry, CallService& service,
                         TaskThread& files, NotebookSessionRun request, CallStream& stream,
                         DoneCallback done)
    : loop_(loop),
      registry_(registry),
      service_(service),
      files_(files),
      request_(std::move(request)),
      stream_(&stream),
      done_(std::move(done)) {}

NotebookJob::~NotebookJob() {
  lifeline_.Cut();
  LeaveSession();
  if (runner_ != nullptr) (void)runner_->SaveNow();
  runner_.reset();
  ReleaseSession();
}

void NotebookJob::Start() {
  files_.Run([this, alive = lifeline_.watch(), loop = &loop_, request = request_.run] {
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
  SessionOpening opening = request_.opening;
  if (opening.cwd.empty()) opening.cwd = folder;
  ticket_ = registry_.Acquire({.id = request_.session,
                               .cwd = is_own ? folder : "",
                               .interpreter = request_.interpreter,
                               .opening = std::move(opening),
                               .per_call = is_own,
                               .owner = request_.owner},
                              [this, alive = lifeline_.watch()](absl::StatusOr<SessionHold> hold) {
                                if (*alive) OnHold(std::move(hold));
                              });
}

void NotebookJob::OnHold(absl::StatusOr<SessionHold> hold) {
  if (cancelled_) return FinishUnstarted();
  if (!hold.ok()) return Finish(hold.status());
  hold_.emplace(*std::move(hold));
  prepared_->options.retry = hold_->settings().retry;
  if (stream_ != nullptr && request_.stream) stream_->TellPlan(prepared_->options.cells);
  TakeBackground();
  runner_ = std::make_unique<NotebookRunner>(
      loop_, hold_->session(), std::move(prepared_->document), std::move(prepared_->target),
      std::move(prepared_->options), static_cast<CallObserver&>(*this),
      [this](const absl::Status& status) {
        if (!status.ok()) return Finish(status);
        Finish(Outcome{.result = runner_->result(),
                       .file = runner_->path(),
                       .saved = runner_->saved(),
                       .clamp_note = request_.run.clamp_note});
      });
  EnterSession();
  runner_->Start();
}

// What was shown before the run is none of its cells'. Who wants no stream leaves it to the next
// call.
void NotebookJob::TakeBackground() {
  if (stream_ == nullptr || !request_.stream) return hold_->session().SetBackgroundAside();
  hold_->TellUnheard(stream_);
  (void)hold_->session().TakeBackground();
}

void NotebookJob::ReleaseSession() {
  if (!hold_) return;
  hold_->session().BringBackgroundBack();
  hold_.reset();
}

// A session of its own has no name by which it could be watched.
void NotebookJob::EnterSession() {
  if (request_.session.empty()) return;
  visit_ = service_.Enter({.session = request_.session,
                           .by = request_.by,
                           .cancel = [this] { Cancel(); },
                           .recount = [this](CallObserver& to) { runner_->Recount(to); }});
  service_.Show(visit_);
}

void NotebookJob::LeaveSession() {
  if (visit_ != 0) service_.Leave(std::exchange(visit_, 0));
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
  if (!cancelled_) Cancel();  // a second one would kill
}

void NotebookJob::FinishUnstarted() {
  Finish(Outcome{.result = {.interrupted = true}, .file = request_.run.file});
}

// Posted, because the runner must not be destroyed in a call that it makes.
void NotebookJob::Finish(absl::StatusOr<Outcome> outcome) {
  loop_.Post([this, alive = lifeline_.watch(), outcome = std::move(outcome)]() mutable {
    if (!*alive) return;
    runner_.reset();
    ReleaseSession();
    LeaveSession();
    DoneCallback done = std::move(done_);
    done(std::move(outcome));
  });
}

// One who wants no stream is asked for input all the same, with what was printed before.
CallObserver* NotebookJob::Client() const {
  if (stream_ == nullptr || request_.stream) return stream_;
  return &stream_->last_line();
}

void NotebookJob::ToAll(absl::FunctionRef<void(CallObserver& to)> tell) {
  if (CallObserver* client = Client()) tell(*client);
  if (visit_ != 0) tell(service_.AudienceOf(visit_));
}

}  // namespace cellar::host
