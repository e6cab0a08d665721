#include "host/eval/call_service.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "host/eval/running_call.h"
#include "host/session/registry.h"

namespace cellar::host {

CallService::CallService(EventLoop& loop, SessionRegistry& registry)
    : loop_(loop), registry_(registry) {
  registry_.Add(*this);
}

CallService::~CallService() {
  registry_.Remove(*this);
  for (auto& [id, call] : calls_) {
    loop_.Cancel(call->background_timer);
    for (auto& [number, waiter] : call->waiters) loop_.Cancel(waiter.timer);
  }
}

CallId CallService::Submit(Call call, CallObserver* observer, ResultCallback done) {
  const CallId id = next_id_++;
  const absl::StatusOr<CallId> parent = ParentOf(call);
  auto& running =
      *(calls_[id] = std::make_unique<RunningCall>(id, std::move(call), observer, std::move(done)));
  if (!parent.ok()) {
    loop_.Post([this, &running, status = parent.status()] { Finish(running, status); });
    return id;
  }
  running.parent = *parent;
  if (running.call.background_after) {
    running.background_timer =
        loop_.After(*running.call.background_after, [this, &running] { OnBackground(running); });
  }
  SessionQuery query = {.id = running.call.session,
                        .cwd = running.call.cwd,
                        .interpreter = running.call.interpreter,
                        .opening = running.call.opening,
                        .per_call = running.call.mode == CallMode::kPerCall,
                        .owner = running.call.owner};
  if (running.parent != 0) {
    query.is_waited_for_by = [this, &running](TicketId holder) {
      const CallId held_by = CallWithTicket(holder);
      if (!WaitsFor(held_by, running.parent)) return false;
      running.held_by = held_by;
      return true;
    };
  }
  running.ticket = registry_.Acquire(
      std::move(query),
      [this, &running](absl::StatusOr<SessionHold> hold) { OnHold(running, std::move(hold)); });
  return id;
}

absl::StatusOr<CallId> CallService::ParentOf(const Call& call) const {
  if (call.parent.empty()) return CallId{0};
  const absl::StatusOr<CallId> parent = CallOf(call.parent);
  if (!parent.ok()) return parent;
  if (FindUnderWay(*parent) == nullptr) return NoSuchCall(call.parent);
  return parent;
}

RunningCall* CallService::FindUnderWay(CallId id) const {
  const auto found = calls_.find(id);
  if (found == calls_.end() || old_results_.Contains(id)) return nullptr;
  return found->second.get();
}

void CallService::OnHold(RunningCall& call, absl::StatusOr<SessionHold> hold) {
  if (hold.ok()) call.hold.emplace(*std::move(hold));
  if (call.cancelled) {
    // The call has had the session for a moment: what was printed in it is the call's to tell.
    if (call.hold) call.hold->TellUnheard(call.observer);
    return Finish(call, call.Unstarted(CallStatus::kCancelled, CellRunStatus::kNotRun));
  }
  if (call.held_by != 0) return RunNested(call);
  if (!hold.ok()) return Finish(call, hold.status());
  ShowToWatchers(call);
  call.hold->TellUnheard(call.observer);
  Call ready = call.call;
  if (!ready.cwd.empty()) ready.cwd = call.hold->key().cwd;
  if (!ready.enter.empty()) ready.cwd = ready.enter;
  if (!ready.retry) ready.retry = call.hold->settings().retry;
  Start(call, call.hold->session(), std::move(ready));
  call.runner->Start();
}

// Runs it on a session that another call holds, inside the wait of that one for this one.
void CallService::RunNested(RunningCall& call) {
  auto holder = calls_.find(call.held_by);
  if (holder == calls_.end() || !holder->second->hold) {
    return Finish(call, absl::FailedPreconditionError(kSessionHeld));
  }
  Start(call, holder->second->hold->session(), call.call);
  ShowToWatchers(call);
  call.runner->StartNested();
}

void CallService::ShowToWatchers(RunningCall& call) {
  const std::optional<std::string> session = SessionOf(call);
  if (!session) return;
  audiences_.ToWatchersOf(*session, [&](SessionWatcher& watcher) { call.AddOnlooker(watcher); });
}

std::optional<std::string> CallService::SessionOf(const RunningCall& call) const {
  if (call.held_by == 0) return call.HeldSession();
  // It runs inside the wait of the one that holds the session.
  auto holder = calls_.find(call.held_by);
  if (call.runner == nullptr || holder == calls_.end()) return std::nullopt;
  return holder->second->HeldSession();
}

void CallService::Start(RunningCall& call, Session& session, Call ready) {
  call.session = &session;
  call.runner = std::make_unique<CallRunner>(
      loop_, session, std::move(ready), &call,
      [this, &call](absl::StatusOr<CallResult> result) { Finish(call, std::move(result)); });
}

void CallService::Finish(RunningCall& call, absl::StatusOr<CallResult> result) {
  loop_.Cancel(call.background_timer);
  call.runner.reset();
  // What came after its last cell, or before its first, was told to this call as well.
  if (result.ok() && call.hold) {
    std::ranges::move(call.hold->session().TakeBackground(),
                      std::back_inserter(result->background));
  }
  call.hold.reset();
  call.audience.Dismiss(HandleOf(call.id));
  if (!call.is_in_background) {
    ResultCallback done = std::move(call.done);
    calls_.erase(call.id);
    return done(std::move(result));
  }
  if (result.ok()) result->handle = HandleOf(call.id);
  std::map<WaiterId, RunningCall::Waiter> waiters = std::exchange(call.waiters, {});
  call.call.cells.clear();  // their code takes room
  for (CallId forgotten : old_results_.Keep(call.id, result, /*is_asked_for=*/!waiters.empty())) {
    calls_.erase(forgotten);
  }
  for (auto& [number, waiter] : waiters) {
    loop_.Cancel(waiter.timer);
    waiter.done(result);
  }
}

// The client has waited long enough.
void CallService::OnBackground(RunningCall& call) {
  call.observer = nullptr;
  call.is_in_background = true;
  std::exchange(call.done, nullptr)(call.SoFar());
}

bool CallService::Cancel(CallId id) {
  if (audiences_.Cancel(id)) return true;
  RunningCall* call = FindUnderWay(id);
  if (call == nullptr) return false;
  call->cancelled = true;
  if (call->runner != nullptr) {
    call->runner->Cancel();
  } else {
    registry_.Withdraw(call->ticket);
  }
  return true;
}

void CallService::Abandon(CallId id) {
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->is_in_background) return;
  found->second->observer = nullptr;
  found->second->done = [](absl::StatusOr<CallResult>) {};
  loop_.Cancel(found->second->background_timer);
  // A second cancel would kill.
  if (!found->second->cancelled) Cancel(id);
}

WaiterId CallService::Wait(CallId id, absl::Duration limit, ResultCallback done) {
  const WaiterId number = next_waiter_++;
  if (const absl::StatusOr<CallResult>* old = old_results_.Ask(id)) {
    loop_.Post([done = std::move(done), result = *old]() mutable { done(std::move(result)); });
    return number;
  }
  auto found = calls_.find(id);
  if (found == calls_.end() || !found->second->is_in_background) {
    loop_.Post([done = std::move(done), id]() mutable { done(NoSuchCall(HandleOf(id))); });
    return number;
  }
  RunningCall& call = *found->second;
  RunningCall::Waiter& waiter = call.waiters[number];
  waiter.done = std::move(done);
  waiter.timer = loop_.After(limit, [&call, number] {
    auto timed_out = call.waiters.extract(number);
    timed_out.mapped().done(call.SoFar());
  });
  return number;
}

void CallService::StopWaiting(WaiterId waiter) {
  for (auto& [id, call] : calls_) {
    const auto stopped = call->waiters.extract(waiter);
    if (!stopped.empty()) return loop_.Cancel(stopped.mapped().timer);
  }
}

absl::StatusOr<CallResult> CallService::Tail(CallId id) const {
  if (const absl::StatusOr<CallResult>* old = old_results_.Find(id)) return *old;
  auto found = calls_.find(id);
  if (found == calls_.end() || !found->second->is_in_background) {
    return NoSuchCall(HandleOf(id));
  }
  return found->second->SoFar();
}

// Whether `waiting` cannot go on before a call that was made on behalf of `ancestor_of` has ended:
// it is that call's ancestor, or one of its own children waits for a session that such a call
// holds.
bool CallService::WaitsFor(CallId waiting, CallId ancestor_of) const {
  std::set<CallId> ancestors;
  for (CallId id = ancestor_of; id != 0;) {
    ancestors.insert(id);
    auto found = calls_.find(id);
    id = found == calls_.end() ? 0 : found->second->parent;
  }
  std::set<CallId> seen;
  std::vector<CallId> next = {waiting};
  while (!next.empty()) {
    const CallId id = next.back();
    next.pop_back();
    if (id == 0 || !seen.insert(id).second) continue;
    if (ancestors.contains(id)) return true;
    for (const auto& [child_id, child] : calls_) {
      if (child->parent != id) continue;
      next.push_back(child_id);
      next.push_back(CallWithTicket(registry_.HolderBefore(child->ticket)));
    }
  }
  return false;
}

CallId CallService::CallWithTicket(TicketId ticket) const {
  if (ticket == 0) return 0;
  for (const auto& [id, call] : calls_) {
    if (call->ticket == ticket) return id;
  }
  return 0;
}

CallId CallService::HolderOf(const SessionKey& session) const {
  for (const auto& [id, call] : calls_) {
    if (call->hold && call->hold->key() == session) return id;
  }
  return audiences_.VisitTo(session.id);
}

CallId CallService::CallerOf(uint64_t bridge_call) const {
  CallId newest = 0;  // answers for a thread whose cell has ended
  for (const auto& [id, call] : calls_) {
    if (call->runner == nullptr) continue;
    const std::optional<uint32_t> cell = call->session->CellThatCalls(bridge_call);
    if (!cell) continue;
    if (cell == call->runner->running_cell()) return id;
    newest = id;
  }
  return newest;
}

TicketId CallService::Reset(SessionQuery query, absl::AnyInvocable<void(absl::Status)> done) {
  query.runs_cells = false;
  return registry_.Acquire(
      std::move(query), [this, done = std::move(done)](absl::StatusOr<SessionHold> hold) mutable {
        if (!hold.ok()) return done(hold.status());
        Session& session = hold->session();
        session.Reset(
            [this, hold = *std::move(hold),
             done = std::move(done)](const absl::Status& status) mutable {
              if (status.ok()) Tell(hold.key().id, SessionChange::kReset);
              done(status);
            },
            /*is_news=*/true);
      });
}

void CallService::Watch(const std::string& session, SessionWatcher& watcher) {
  for (auto& [id, call] : calls_) {
    if (SessionOf(*call) == session) call->AddOnlooker(watcher);
  }
  audiences_.Watch(session, watcher);
}

void CallService::Unwatch(SessionWatcher& watcher) {
  for (auto& [id, call] : calls_) call->audience.Remove(watcher);
  audiences_.Unwatch(watcher);
}

CallId CallService::Enter(SessionVisit visit) {
  const CallId id = next_id_++;
  audiences_.Enter(id, std::move(visit));
  return id;
}

void CallService::Tell(const std::string& session, SessionChange change) {
  audiences_.ToWatchersOf(session, [&](SessionWatcher& watcher) { watcher.OnChange(change); });
}

bool CallService::HearsBackground(const std::string& id, TicketId holder) const {
  return CallWithTicket(holder) != 0 || IsWatched(id);
}

void CallService::OnBackgroundText(const std::string& id, TicketId holder, Stream stream,
                                   std::string_view text) {
  // It came between two cells of the call that has the session.
  if (const CallId call = CallWithTicket(holder); call != 0) {
    return calls_.at(call)->OnBackgroundText(stream, text);
  }
  audiences_.ToWatchersOf(id,
                          [&](SessionWatcher& watcher) { watcher.OnBackgroundText(stream, text); });
}

void CallService::OnBackgroundDisplay(const std::string& id, TicketId holder,
                                      const wire::Display& display) {
  if (const CallId call = CallWithTicket(holder); call != 0) {
    return calls_.at(call)->OnBackgroundDisplay(display);
  }
  audiences_.ToWatchersOf(id,
                          [&](SessionWatcher& watcher) { watcher.OnBackgroundDisplay(display); });
}

}  // namespace cellar::host
