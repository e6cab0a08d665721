// How sessions end: when their last owner leaves, when they have rested long enough, when room is
// needed, when somebody says so.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/session/registry.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

// From the end of a session's worker until its keeper has been reaped, and counts no more.
constexpr absl::Duration kReapTime = absl::Milliseconds(50);

// Calls `done` when the last of its copies is gone.
class Barrier {
 public:
  explicit Barrier(EventLoop::Task done)
      : last_(new EventLoop::Task(std::move(done)), [](EventLoop::Task* task) {
          (*task)();
          delete task;
        }) {}

 private:
  std::shared_ptr<EventLoop::Task> last_;
};

}  // namespace

// Nobody wants the session now.
void SessionRegistry::Rest(OpenSession& open) {
  if (open.per_call) return StartClosing(open, [] {});
  if (open.is_owned && open.owners.empty() && !IsWatched(open)) {
    return Evict(open, "the session was closed because its last owner has left", [] {});
  }
  const absl::Duration limit = open.settings.idle_timeout;
  if (limit <= absl::ZeroDuration()) return;
  loop_.Cancel(open.idle_timer);
  open.idle_timer = loop_.After(limit, [this, &open, limit] {
    if (IsWatched(open)) return Rest(open);
    Evict(open,
          absl::StrCat("the session was closed after ", absl::ToDoubleSeconds(limit),
                       " s without a call"),
          [] {});
  });
}

bool SessionRegistry::IsWatched(const OpenSession& open) const {
  return std::ranges::any_of(listeners_, [&](const SessionListener* listener) {
    return listener->IsWatched(open.key.id);
  });
}

absl::Status SessionRegistry::MakeRoom() {
  OpenSession* oldest = nullptr;
  size_t count = 0;
  for (OpenSession& open : sessions_) {
    if (open.closing) continue;
    ++count;
    if (!open.idle()) continue;
    if (oldest == nullptr || open.use < oldest->use) oldest = &open;
  }
  if (count < limits_.max_sessions) return absl::OkStatus();
  if (oldest == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        count, " sessions are open, as many as max_sessions allows, and all are busy"));
  }
  Evict(*oldest, "the session was closed to make room for another one", [] {});
  return absl::OkStatus();
}

void SessionRegistry::Leave(const std::string& owner) {
  for (OpenSession& open : sessions_) {
    if (open.owners.erase(owner) > 0 && open.idle()) Rest(open);
  }
}

bool SessionRegistry::Close(const std::string& id, EventLoop::Task done) {
  const Barrier barrier([this, done = std::move(done)]() mutable { loop_.Post(std::move(done)); });
  bool found = false;
  for (OpenSession& open : sessions_) {
    if (open.key.id != id || open.per_call) continue;
    found = true;
    Evict(open, "the session was closed", [barrier] {});
  }
  return found;
}

void SessionRegistry::CloseAll(EventLoop::Task done) {
  leaving_ = true;
  when_left_ = std::move(done);
  for (auto& [id, requests] : arrivals_) {
    for (Request& request : requests) {
      if (request.turn.held == nullptr) continue;
      Fail({.held = std::exchange(request.turn.held, nullptr)},
           absl::CancelledError("the host is ending"));
    }
  }
  for (OpenSession& open : sessions_) StartClosing(open, [] {});
  if (sessions_.empty()) loop_.Post(std::exchange(when_left_, nullptr));
}

void SessionRegistry::StartClosing(OpenSession& open, EventLoop::Task when_closed) {
  open.when_closed.push_back(std::move(when_closed));
  if (std::exchange(open.closing, true)) return;
  loop_.Cancel(open.idle_timer);
  if (!open.per_call) {
    for (SessionListener* listener : listeners_) listener->OnClosing(open.key.id);
  }
  for (Turn& turn : std::exchange(open.waiting, {})) Fail(std::move(turn), SessionClosed());
  // Posted, because a session must not be destroyed in a call that it makes.
  open.session->Close([this, &open] {
    loop_.Post([this, &open] {
      open.closed = true;
      if (open.holder == 0) Forget(open);  // else when it has learned that its cell is over
    });
  });
}

void SessionRegistry::Forget(OpenSession& open) {
  std::vector<EventLoop::Task> tasks = std::move(open.when_closed);
  sessions_.remove_if([&open](const OpenSession& other) { return &other == &open; });
  for (EventLoop::Task& task : tasks) task();
  tasks.clear();
  if (leaving_ && sessions_.empty() && when_left_) std::exchange(when_left_, nullptr)();
}

void SessionRegistry::Evict(OpenSession& open, std::string reason, EventLoop::Task when_closed) {
  // One that was only looked at has not told yet why it was empty.
  if (!open.used) reason = open.session->untold_loss();
  if (!reason.empty()) lost_.Note(open.key.id, std::move(reason));
  StartClosing(open, std::move(when_closed));
}

// A worker could not be started: what idle sessions hold may be enough.
void SessionRegistry::Relieve(const Session* asking, EventLoop::Task done) {
  const Barrier barrier([this, done = std::move(done)]() mutable {
    loop_.After(kReapTime, std::move(done));
  });
  for (OpenSession& open : sessions_) {
    if (!open.idle() || open.session.get() == asking) continue;
    Evict(open,
          "the session was closed because the machine ran out of processes, memory or descriptors",
          [barrier] {});
  }
}

}  // namespace cellar::host
