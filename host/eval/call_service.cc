#include "host/eval/call_service.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "host/base/clock.h"
#include "host/eval/running_call.h"

namespace cellar::host {
namespace {

// Of calls that ended in the background; those that ended first go first. The last one stays,
// whatever its size.
constexpr size_t kMaxOldResults = 64;
constexpr size_t kMaxOldResultBytes = size_t{64} << 20;

size_t BytesOf(const std::vector<CellOutput>& outputs) {
  size_t bytes = 0;
  for (const CellOutput& output : outputs) {
    bytes += sizeof(output) + output.text.size() + output.metadata.size();
    for (const wire::MimeEntry& entry : output.data) bytes += entry.data.size();
  }
  return bytes;
}

// About: what can be large.
size_t BytesOf(const CallResult& result) {
  size_t bytes = BytesOf(result.background);
  for (const CellResult& cell : result.cells) {
    bytes += sizeof(cell) + BytesOf(cell.outcome.outputs);
    const std::optional<CellError>& error = cell.outcome.error;
    if (error) bytes += error->evalue.size() + error->traceback.size();
  }
  return bytes;
}

}  // namespace

CallService::CallService(EventLoop& loop, SessionRegistry& registry)
    : loop_(loop), registry_(registry) {
  registry_.Add(*this);
}

CallService::~CallService() {
  registry_.Remove(*this);
  for (auto& [id, call] : calls_) {
    loop_.Cancel(call->background_timer);
    if (call->background == nullptr) continue;
    for (auto& [number, waiter] : call->background->waiters) loop_.Cancel(waiter.timer);
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
  const auto found = calls_.find(*parent);
  if (found == calls_.end() || found->second->is_over()) return NoSuchCall(call.parent);
  return parent;
}

void CallService::OnHold(RunningCall& call, absl::StatusOr<SessionHold> hold) {
  if (hold.ok()) call.hold.emplace(*std::move(hold));
  if (call.cancelled) {
    // What is printed is the call's to tell from the moment it got the session, which was before.
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

// On a session that another call holds, inside its wait for this one.
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
  for (const auto& [session, watcher] : watchers_) {
    if (IsOn(call, session)) call.AddOnlooker(*watcher);
  }
}

// Also when it runs inside the wait of one that holds it.
bool CallService::IsOn(const RunningCall& call, const std::string& session) const {
  if (call.held_by == 0) return call.Holds(session);
  auto holder = calls_.find(call.held_by);
  return call.runner != nullptr && holder != calls_.end() && holder->second->Holds(session);
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
  if (call.background == nullptr) {
    ResultCallback done = std::move(call.done);
    calls_.erase(call.id);
    return done(std::move(result));
  }
  if (result.ok()) result->handle = HandleOf(call.id);
  RunningCall::Background& background = *call.background;
  std::map<WaiterId, RunningCall::Waiter> waiters = std::exchange(background.waiters, {});
  background.result = result;
  background.result_bytes = result.ok() ? BytesOf(*result) : 0;
  background.ended = MonotonicNow();
  background.was_waited_for = !waiters.empty();
  call.call.cells.clear();  // their code
  over_.push_back(call.id);
  ForgetOldResults();
  for (auto& [number, waiter] : waiters) {
    loop_.Cancel(waiter.timer);
    waiter.done(result);
  }
}

// The client has waited long enough.
void CallService::OnBackground(RunningCall& call) {
  call.observer = nullptr;
  call.background = std::make_unique<RunningCall::Background>();
  std::exchange(call.done, nullptr)(call.SoFar());
}

bool CallService::Cancel(CallId id) {
  if (auto visiting = visits_.find(id); visiting != visits_.end()) {
    visiting->second.visit.cancel();
    return true;
  }
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->is_over()) return false;
  RunningCall& call = *found->second;
  call.cancelled = true;
  if (call.runner != nullptr) {
    call.runner->Cancel();
  } else {
    registry_.Withdraw(call.ticket);
  }
  return true;
}

void CallService::Abandon(CallId id) {
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->background != nullptr) return;
  found->second->observer = nullptr;
  found->second->done = [](absl::StatusOr<CallResult>) {};
  loop_.Cancel(found->second->background_timer);
  // A second cancel would kill.
  if (!found->second->cancelled) Cancel(id);
}

WaiterId CallService::Wait(CallId id, absl::Duration limit, ResultCallback done) {
  const WaiterId number = next_waiter_++;
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->background == nullptr) {
    loop_.Post([done = std::move(done), id]() mutable { done(NoSuchCall(HandleOf(id))); });
    return number;
  }
  RunningCall& call = *found->second;
  RunningCall::Background& background = *call.background;
  if (background.result) {
    background.was_waited_for = true;
    loop_.Post([done = std::move(done), result = *background.result]() mutable {
      done(std::move(result));
    });
    return number;
  }
  RunningCall::Waiter& waiter = background.waiters[number];
  waiter.done = std::move(done);
  waiter.timer = loop_.After(limit, [&call, number] {
    auto timed_out = call.background->waiters.extract(number);
    timed_out.mapped().done(call.SoFar());
  });
  return number;
}

void CallService::StopWaiting(WaiterId waiter) {
  for (auto& [id, call] : calls_) {
    if (call->background == nullptr) continue;
    const auto stopped = call->background->waiters.extract(waiter);
    if (!stopped.empty()) return loop_.Cancel(stopped.mapped().timer);
  }
}

absl::StatusOr<CallResult> CallService::Tail(CallId id) const {
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->background == nullptr) {
    return NoSuchCall(HandleOf(id));
  }
  const RunningCall& call = *found->second;
  return call.is_over() ? *call.background->result : call.SoFar();
}

bool CallService::HasUnaskedResult(absl::Duration younger_than) const {
  return std::ranges::any_of(over_, [&](CallId id) {
    const RunningCall::Background& background = *calls_.at(id)->background;
    return !background.was_waited_for && MonotonicNow() - background.ended < younger_than;
  });
}

void CallService::ForgetOldResults() {
  size_t bytes = 0;
  for (CallId id : over_) bytes += calls_.at(id)->background->result_bytes;
  while (over_.size() > kMaxOldResults || (bytes > kMaxOldResultBytes && over_.size() > 1)) {
    const auto oldest = calls_.find(over_.front());
    bytes -= oldest->second->background->result_bytes;
    calls_.erase(oldest);
    over_.pop_front();
  }
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
  for (const auto& [id, visiting] : visits_) {
    if (visiting.visit.session == session.id) return id;
  }
  return 0;
}

CallId CallService::CallerOf(uint64_t bridge_call) const {
  CallId newest = 0;  // for what a thread asks whose cell has ended
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
  watchers_.emplace(session, &watcher);
  for (auto& [id, call] : calls_) {
    if (IsOn(*call, session)) call->AddOnlooker(watcher);
  }
  for (auto& [id, visiting] : visits_) {
    if (visiting.visit.session != session) continue;
    CallObserver* newcomer =
        visiting.audience.Add(watcher, {.handle = HandleOf(id), .by = visiting.visit.by});
    if (newcomer != nullptr) visiting.visit.recount(*newcomer);
  }
}

void CallService::Unwatch(SessionWatcher& watcher) {
  std::erase_if(watchers_, [&](const auto& other) { return other.second == &watcher; });
  for (auto& [id, call] : calls_) call->audience.Remove(watcher);
  for (auto& [id, visiting] : visits_) visiting.audience.Remove(watcher);
}

CallId CallService::Enter(Visit visit) {
  const CallId id = next_id_++;
  visits_[id].visit = std::move(visit);
  return id;
}

void CallService::Show(CallId visit) {
  Visiting& visiting = visits_.at(visit);
  const auto [first, last] = watchers_.equal_range(visiting.visit.session);
  for (auto watcher = first; watcher != last; ++watcher) {
    visiting.audience.Add(*watcher->second, {.handle = HandleOf(visit), .by = visiting.visit.by});
  }
}

void CallService::Leave(CallId visit) {
  visits_.extract(visit).mapped().audience.Dismiss(HandleOf(visit));
}

void CallService::Tell(const std::string& session, SessionChange change) {
  const auto [first, last] = watchers_.equal_range(session);
  for (auto watcher = first; watcher != last; ++watcher) watcher->second->OnChange(change);
}

bool CallService::HearsBackground(const std::string& id, TicketId holder) const {
  return CallWithTicket(holder) != 0 || IsWatched(id);
}

void CallService::OnBackgroundText(const std::string& id, TicketId holder, Stream stream,
                                   std::string_view text) {
  // Between two of its cells.
  if (const CallId call = CallWithTicket(holder); call != 0) {
    return calls_.at(call)->OnBackgroundText(stream, text);
  }
  const auto [first, last] = watchers_.equal_range(id);
  for (auto watcher = first; watcher != last; ++watcher) {
    watcher->second->OnBackgroundText(stream, text);
  }
}

}  // namespace cellar::host
