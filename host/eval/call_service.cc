#include "host/eval/call_service.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace cellar::host {
namespace {

constexpr std::string_view kHandlePrefix = "call-";
// Of calls that ended in the background and that nobody has asked for yet; the oldest go first.
constexpr size_t kMaxOldResults = 64;

absl::Status NoSuchCall(std::string_view handle) {
  return absl::NotFoundError(
      absl::StrCat("there is no call ", std::string(handle), ", or its result was taken already"));
}

// Of a call none of whose cells has run.
CallResult Unstarted(const Call& call, CallStatus status, CellRunStatus cell_status) {
  CallResult result = {.status = status, .session_id = call.session};
  for (const CallCell& cell : call.cells) {
    result.cells.push_back(
        {.status = cell_status, .title = cell.title, .runs = 0, .clamp_note = cell.clamp_note});
  }
  return result;
}

}  // namespace

std::string HandleOf(CallId id) { return absl::StrCat(std::string(kHandlePrefix), id); }

absl::StatusOr<CallId> CallOf(std::string_view handle) {
  CallId id = 0;
  if (!handle.starts_with(kHandlePrefix) ||
      !absl::SimpleAtoi(std::string(handle.substr(kHandlePrefix.size())), &id) || id == 0) {
    return NoSuchCall(handle);
  }
  return id;
}

// One call from its submission until its result is taken. Stands between its cells and the
// client's observer, which may leave before the call is over.
class CallService::RunningCall : public CallObserver {
 public:
  RunningCall(CallId id, Call given, CallObserver* observer, ResultCallback done)
      : id(id), call(std::move(given)), observer(observer), done(std::move(done)) {}

  void OnText(Stream stream, std::string_view text) override {
    ToAll([&](CallObserver& to) { to.OnText(stream, text); });
  }
  void OnDisplay(const wire::Display& display) override {
    ToAll([&](CallObserver& to) { to.OnDisplay(display); });
  }
  void OnBackgroundText(Stream stream, std::string_view text) override {
    ToAll([&](CallObserver& to) { to.OnBackgroundText(stream, text); });
  }
  void OnCellStarted(size_t index, const CallCell& cell) override {
    ToAll([&](CallObserver& to) { to.OnCellStarted(index, cell); });
  }
  void OnCellFinished(size_t index, const CellResult& result) override {
    ToAll([&](CallObserver& to) { to.OnCellFinished(index, result); });
  }

  bool Holds(const std::string& id_of_session) const {
    return hold && call.mode == CallMode::kSession && call.session == id_of_session;
  }

  void AddOnlooker(SessionWatcher& watcher) {
    CallObserver* newcomer =
        audience.Add(watcher, {.handle = HandleOf(id), .by = call.by, .is_nested = held_by != 0});
    if (runner != nullptr && newcomer != nullptr) Recount(*newcomer);
  }

  // What the cell that runs has done before somebody looked.
  void Recount(CallObserver& to) const {
    const CallResult so_far = runner->SoFar();
    for (size_t i = 0; i < so_far.cells.size(); ++i) {
      if (so_far.cells[i].status != CellRunStatus::kRunning) continue;
      to.OnCellStarted(i, call.cells[i]);
      for (const CellOutput& output : so_far.cells[i].outcome.outputs) RecountOutput(output, to);
    }
  }

  static void RecountOutput(const CellOutput& output, CallObserver& to) {
    using Type = CellOutput::Type;
    if (output.type == Type::kStdout) return to.OnText(Stream::kStdout, output.text);
    if (output.type == Type::kStderr) return to.OnText(Stream::kStderr, output.text);
    if (output.type != Type::kDisplay) return;  // there is no result yet, and status is of its time
    to.OnDisplay({.kind = wire::DisplayKind::kDisplay,
                  .data = output.data,
                  .metadata = output.metadata,
                  .display_id = output.display_id});
  }

  CallResult SoFar() const {
    CallResult so_far = runner != nullptr
                            ? runner->SoFar()
                            : Unstarted(call, CallStatus::kRunning, CellRunStatus::kPending);
    so_far.handle = HandleOf(id);
    return so_far;
  }

  struct Waiter {
    ResultCallback done;
    EventLoop::TimerId timer = 0;
  };

  const CallId id;
  Call call;
  CallId parent = 0;
  CallId held_by = 0;      // the one that waits for this one and holds its session; or 0
  Session* session;        // that its cells run on, while `runner` is there
  CallObserver* observer;  // or null
  Audience audience;
  ResultCallback done;  // null once the client has its answer
  TicketId ticket = 0;
  bool cancelled = false;
  std::unique_ptr<CallRunner> runner;
  std::optional<SessionHold> hold;  // gone before the runner, which it may still call
  EventLoop::TimerId background_timer = 0;
  std::map<WaiterId, Waiter> waiters;
  std::optional<absl::StatusOr<CallResult>> result;  // of a call that ended in the background

 private:
  template <typename Tell>
  void ToAll(Tell tell) {
    if (observer != nullptr) tell(*observer);
    tell(static_cast<CallObserver&>(audience));
  }
};

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
                        .opening_cwd = running.call.opening_cwd,
                        .opening_interpreter = running.call.opening_interpreter,
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
  if (found == calls_.end() || found->second->result) return NoSuchCall(call.parent);
  return parent;
}

void CallService::OnHold(RunningCall& call, absl::StatusOr<SessionHold> hold) {
  if (call.cancelled) {
    return Finish(call, Unstarted(call.call, CallStatus::kCancelled, CellRunStatus::kNotRun));
  }
  if (call.held_by != 0) return RunNested(call);
  if (!hold.ok()) return Finish(call, hold.status());
  call.hold.emplace(*std::move(hold));
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
  if (call.done) {
    ResultCallback done = std::move(call.done);
    calls_.erase(call.id);
    return done(std::move(result));
  }
  if (result.ok()) result->handle = HandleOf(call.id);
  if (call.waiters.empty()) {
    call.result = std::move(result);
    return ForgetOldResults();
  }
  std::map<WaiterId, RunningCall::Waiter> waiters = std::move(call.waiters);
  calls_.erase(call.id);
  for (auto& [number, waiter] : waiters) {
    loop_.Cancel(waiter.timer);
    waiter.done(result);
  }
}

// The client has waited long enough.
void CallService::OnBackground(RunningCall& call) {
  call.observer = nullptr;
  std::exchange(call.done, nullptr)(call.SoFar());
}

bool CallService::Cancel(CallId id) {
  if (auto visiting = visits_.find(id); visiting != visits_.end()) {
    visiting->second.visit.cancel();
    return true;
  }
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->result) return false;
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
  if (found == calls_.end() || !found->second->done) return;
  found->second->observer = nullptr;
  found->second->done = [](absl::StatusOr<CallResult>) {};
  loop_.Cancel(found->second->background_timer);
  Cancel(id);
}

WaiterId CallService::Wait(CallId id, absl::Duration limit, ResultCallback done) {
  const WaiterId number = next_waiter_++;
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->done) {
    loop_.Post([done = std::move(done), id]() mutable { done(NoSuchCall(HandleOf(id))); });
    return number;
  }
  RunningCall& call = *found->second;
  if (call.result) {
    loop_.Post([done = std::move(done), result = *std::move(call.result)]() mutable {
      done(std::move(result));
    });
    calls_.erase(found);
    return number;
  }
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
  auto found = calls_.find(id);
  if (found == calls_.end() || found->second->done) return NoSuchCall(HandleOf(id));
  if (found->second->result) return *found->second->result;
  return found->second->SoFar();
}

void CallService::ForgetOldResults() {
  const size_t count =
      static_cast<size_t>(std::count_if(calls_.begin(), calls_.end(), [](const auto& call) {
        return call.second->result.has_value();
      }));
  if (count <= kMaxOldResults) return;
  calls_.erase(std::find_if(calls_.begin(), calls_.end(),
                            [](const auto& call) { return call.second->result.has_value(); }));
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

CallId CallService::CallerOf(uint64_t bridge_call) const {
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (call->second->runner != nullptr && call->second->session->HasCall(bridge_call)) {
      return call->first;
    }
  }
  return 0;
}

void CallService::Reset(SessionQuery query, absl::AnyInvocable<void(absl::Status)> done) {
  query.runs_cells = false;
  registry_.Acquire(std::move(query),
                    [this, done = std::move(done)](absl::StatusOr<SessionHold> hold) mutable {
                      if (!hold.ok()) return done(hold.status());
                      Session& session = hold->session();
                      session.Reset([this, hold = *std::move(hold),
                                     done = std::move(done)](const absl::Status& status) mutable {
                        if (status.ok()) Tell(hold.key().id, SessionChange::kReset);
                        done(status);
                      });
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
