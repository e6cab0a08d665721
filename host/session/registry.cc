#include "host/session/registry.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/session/session_errors.h"

namespace cellar::host {
namespace {

absl::Status SessionExists(const std::string& id) {
  return absl::AlreadyExistsError(absl::StrCat("there is a session \"", id, "\" already"));
}

SessionOpening OpeningFor(const SessionQuery& query) {
  SessionOpening opening = query.opening;
  if (!query.cwd.empty()) opening.cwd = query.cwd;
  if (!query.interpreter.empty()) opening.interpreter = query.interpreter;
  return opening;
}

// Asks for nothing that the host's own launch has not.
bool IsAsHost(const SessionOpening& opening) {
  return opening.cwd.empty() && opening.interpreter.empty() && !opening.env;
}

// The settings that the variables of who makes the request ask for, and an open session has not.
absl::StatusOr<std::vector<std::string>> TellUnmet(const SessionQuery& query,
                                                   const Settings& settings) {
  if (!query.opening.env || !query.runs_cells) return std::vector<std::string>();
  CELLAR_ASSIGN_OR_RETURN(std::vector<UnmetVariable> unmet,
                          UnmetVariables(*query.opening.env, settings));
  std::vector<std::string> notices;
  for (const UnmetVariable& variable : unmet) {
    notices.push_back(absl::StrCat("the session is open already, with ", variable.key, " ",
                                   variable.value, ": ", variable.name, " has no effect on it"));
  }
  return notices;
}

}  // namespace

// What a session prints between cells, with its name. Who hears something is told first what nobody
// has heard.
class SessionRegistry::BackgroundRelay : public CellObserver {
 public:
  BackgroundRelay(const SessionRegistry& registry, OpenSession& open)
      : registry_(registry), open_(open) {}

  void OnBackgroundText(Stream stream, std::string_view text) override {
    Relay([&](SessionListener& to) {
      to.OnBackgroundText(open_.key.id, open_.holder, stream, text);
    });
  }
  void OnBackgroundDisplay(const wire::Display& display) override {
    Relay(
        [&](SessionListener& to) { to.OnBackgroundDisplay(open_.key.id, open_.holder, display); });
  }

 private:
  void Relay(absl::FunctionRef<void(SessionListener& to)> tell) {
    const bool had_unheard = std::exchange(open_.has_unheard, !IsHeard());
    if (open_.has_unheard) return;
    if (had_unheard) return open_.session->RecountBackground(*this);  // this is the last of it
    for (SessionListener* listener : registry_.listeners_) tell(*listener);
  }

  bool IsHeard() const {
    return std::ranges::any_of(registry_.listeners_, [&](const SessionListener* listener) {
      return listener->HearsBackground(open_.key.id, open_.holder);
    });
  }

  const SessionRegistry& registry_;
  OpenSession& open_;
};

SessionRegistry::SessionRegistry(EventLoop& loop, TemplatePool& templates, OutputStorage storage,
                                 Launcher& launcher, SessionLimits limits)
    : loop_(loop),
      templates_(templates),
      storage_(storage),
      launcher_(launcher),
      limits_(limits),
      memory_(loop, [this](absl::FunctionRef<void(Session&)> visit) {
        for (OpenSession& open : sessions_) visit(*open.session);
      }) {}

SessionRegistry::~SessionRegistry() {
  lifeline_.Cut();
  for (OpenSession& open : sessions_) loop_.Cancel(open.idle_timer);
}

TicketId SessionRegistry::Acquire(SessionQuery query, HoldCallback held) {
  const TicketId ticket = next_ticket_++;
  const std::string id = query.id;
  Turn turn = {.ticket = ticket, .runs_cells = query.runs_cells, .held = std::move(held)};
  std::deque<Request>& arrivals = arrivals_[id];
  arrivals.push_back({.query = std::move(query), .turn = std::move(turn)});
  if (arrivals.size() == 1) Admit(id);
  return ticket;
}

// Finds sessions for the requests of an id, in their order, until one has to wait for its launch.
void SessionRegistry::Admit(const std::string& id) {
  while (true) {
    auto arrivals = arrivals_.find(id);
    if (arrivals == arrivals_.end()) return;
    if (arrivals->second.empty()) {
      arrivals_.erase(arrivals);
      return;
    }
    const SessionQuery& query = arrivals->second.front().query;
    OpenSession* open = MatchAsGiven(query);
    if (leaving_ || open != nullptr || IsAsHost(OpeningFor(query))) {
      Request request = std::move(arrivals->second.front());
      arrivals->second.pop_front();
      Place(std::move(request), open, launcher_.host_launch());
      continue;
    }
    launcher_.Prepare(OpeningFor(query),
                      [this, id, alive = lifeline_.watch()](absl::StatusOr<Launch> launch) {
                        if (!*alive) return;
                        std::deque<Request>& waiting = arrivals_[id];
                        Request request = std::move(waiting.front());
                        waiting.pop_front();
                        OpenSession* open = launch.ok() ? Match(request.query, *launch) : nullptr;
                        Place(std::move(request), open, launch);
                        Admit(id);
                      });
    return;
  }
}

void SessionRegistry::Place(Request request, OpenSession* open,
                            const absl::StatusOr<Launch>& launch) {
  if (request.turn.held == nullptr) return;  // withdrawn
  if (leaving_) return Fail(std::move(request.turn), absl::CancelledError("the host is ending"));
  if (!launch.ok()) return Fail(std::move(request.turn), launch.status());
  if (open != nullptr) {
    absl::StatusOr<std::vector<std::string>> notices = TellUnmet(request.query, open->settings);
    if (!notices.ok()) return Fail(std::move(request.turn), notices.status());
    request.turn.notices = *std::move(notices);
  } else {
    absl::StatusOr<OpenSession*> opened = Open(request.query, *launch);
    if (!opened.ok()) return Fail(std::move(request.turn), opened.status());
    open = *opened;
  }
  Join(*open, std::move(request));
}

// Without looking at any directory or interpreter. One that is asked for by another name than that
// of its real directory is found by its launch.
SessionRegistry::OpenSession* SessionRegistry::MatchAsGiven(const SessionQuery& query) {
  if (query.per_call || !query.interpreter.empty()) return nullptr;
  return UsedLast(query.id, query.cwd, "");
}

SessionRegistry::OpenSession* SessionRegistry::Match(const SessionQuery& query,
                                                     const Launch& launch) {
  if (query.per_call) return nullptr;
  return UsedLast(query.id, query.cwd.empty() ? "" : launch.session.cwd,
                  query.interpreter.empty() ? "" : launch.interpreter.executable);
}

SessionRegistry::OpenSession* SessionRegistry::UsedLast(const std::string& id,
                                                        const std::string& cwd,
                                                        const std::string& interpreter) {
  OpenSession* last = nullptr;
  for (OpenSession& open : sessions_) {
    if (open.closing || open.per_call || open.key.id != id) continue;
    if (!cwd.empty() && open.key.cwd != cwd) continue;
    if (!interpreter.empty() && open.key.interpreter != interpreter) continue;
    if (last == nullptr || open.use > last->use) last = &open;
  }
  return last;
}

absl::StatusOr<SessionRegistry::OpenSession*> SessionRegistry::Open(const SessionQuery& query,
                                                                    const Launch& launch) {
  CELLAR_RETURN_IF_ERROR(MakeRoom());
  std::string fresh_reason = query.per_call ? "" : WhyEmpty(query.id);
  OpenSession& open = sessions_.emplace_back();
  open.key = {query.id, launch.session.cwd, launch.interpreter.executable};
  open.settings = launch.settings;
  open.per_call = query.per_call;
  open.is_owned = !query.owner.empty();
  SessionOptions options = launch.session;
  options.id = query.id;
  options.bridge = bridge_;
  options.fresh_reason = std::move(fresh_reason);
  options.snapshot_account = &snapshots_;
  OutputStorage storage = storage_;
  if (launch.artifacts_directory != launcher_.host_launch().artifacts_directory) {
    storage.artifacts = ArtifactStore(launch.artifacts_directory);
  }
  open.session = std::make_unique<Session>(loop_, templates_, storage, std::move(options));
  Connect(open);
  return &open;
}

std::string SessionRegistry::WhyEmpty(const std::string& id) {
  if (std::string reason = lost_.Take(id); !reason.empty()) return reason;
  const OpenSession* other = UsedLast(id);
  if (other == nullptr) return "";
  return absl::StrCat("another session of this name is open, in ", other->key.cwd, " with ",
                      other->key.interpreter);
}

void SessionRegistry::Connect(OpenSession& open) {
  open.session->SetRelieve(
      [this, &open](EventLoop::Task done) { Relieve(open.session.get(), std::move(done)); });
  open.background = std::make_unique<BackgroundRelay>(*this, open);
  open.session->ObserveBackground(open.background.get());
  memory_.Add(*open.session);
}

void SessionRegistry::Join(OpenSession& open, Request request) {
  if (open.holder != 0 && request.query.is_waited_for_by &&
      request.query.is_waited_for_by(open.holder)) {
    return Fail(std::move(request.turn), absl::FailedPreconditionError(kSessionHeld));
  }
  if (open.waiting.size() >= limits_.max_waiting) {
    return Fail(std::move(request.turn),
                absl::FailedPreconditionError(absl::StrCat(
                    "the session's queue is full: ", open.waiting.size(), " calls wait")));
  }
  if (!request.query.owner.empty()) {
    open.owners.insert(request.query.owner);
  } else if (request.query.runs_cells) {
    open.is_owned = false;
  }
  open.waiting.push_back(std::move(request.turn));
  Grant(open);
}

void SessionRegistry::Grant(OpenSession& open) {
  if (open.holder != 0 || open.waiting.empty() || open.closing) return;
  Turn turn = std::move(open.waiting.front());
  open.waiting.pop_front();
  open.holder = turn.ticket;
  open.use = next_use_++;
  open.last_used = MonotonicNow();
  if (turn.runs_cells) Use(open);
  open.session->Note(std::move(turn.notices));
  loop_.Cancel(open.idle_timer);
  // The session stays while it is held; the registry may go while the loop has this to do.
  loop_.Post([this, alive = lifeline_.watch(), &open, held = std::move(turn.held)]() mutable {
    if (*alive) held(SessionHold(*this, open.holder, *open.session, open.key, open.settings));
  });
}

void SessionRegistry::Use(OpenSession& open) {
  if (open.per_call || std::exchange(open.used, true)) return;
  for (SessionListener* listener : listeners_) listener->OnUsed(open.key.id);
}

SessionRegistry::OpenSession& SessionRegistry::HeldBy(TicketId ticket) {
  return *std::find_if(sessions_.begin(), sessions_.end(),
                       [ticket](const OpenSession& open) { return open.holder == ticket; });
}

void SessionRegistry::Release(TicketId ticket) {
  OpenSession& held = HeldBy(ticket);
  held.holder = 0;
  held.last_used = MonotonicNow();
  // The holder may have listened itself.
  held.session->ObserveBackground(held.background.get());
  if (held.closing) {
    if (held.closed) loop_.Post([this, &held] { Forget(held); });
    return;
  }
  Grant(held);
  if (held.holder == 0) Rest(held);
}

void SessionRegistry::Fail(Turn turn, absl::Status status) {
  loop_.Post([held = std::move(turn.held), status = std::move(status)]() mutable { held(status); });
}

bool SessionRegistry::Withdraw(TicketId ticket) {
  const auto withdraw = [&](Turn& turn) {
    Fail({.held = std::exchange(turn.held, nullptr)},
         absl::CancelledError("the call was cancelled"));
  };
  const auto is_it = [ticket](const Turn& turn) {
    return turn.ticket == ticket && turn.held != nullptr;
  };
  for (auto& [id, requests] : arrivals_) {
    auto found = std::ranges::find_if(requests, is_it, &Request::turn);
    if (found == requests.end()) continue;
    withdraw(found->turn);  // stays in its place: its launch may be under way
    return true;
  }
  for (OpenSession& open : sessions_) {
    auto found = std::ranges::find_if(open.waiting, is_it);
    if (found == open.waiting.end()) continue;
    withdraw(*found);
    open.waiting.erase(found);
    return true;
  }
  return false;
}

TicketId SessionRegistry::HolderBefore(TicketId ticket) const {
  for (const OpenSession& open : sessions_) {
    for (const Turn& turn : open.waiting) {
      if (turn.ticket == ticket) return open.holder;
    }
  }
  return 0;
}

void SessionRegistry::RenewOffers() {
  for (OpenSession& open : sessions_) {
    if (!open.closing) open.session->RenewOffer();
  }
}

Session* SessionRegistry::Find(const std::string& id) {
  OpenSession* open = UsedLast(id);
  return open == nullptr ? nullptr : open->session.get();
}

size_t SessionRegistry::CountOf(const std::string& id) const {
  return static_cast<size_t>(std::ranges::count_if(sessions_, [&](const OpenSession& open) {
    return open.key.id == id && !open.closing && !open.per_call;
  }));
}

bool SessionRegistry::busy() const {
  return !arrivals_.empty() || !std::all_of(sessions_.begin(), sessions_.end(),
                                            [](const OpenSession& open) { return open.idle(); });
}

void SessionRegistry::Branch(const std::string& id, BranchOptions options, BranchCallback done) {
  if (Find(id) == nullptr) return done(NoSuchSession(id));
  Acquire({.id = id, .runs_cells = false},
          [this, options = std::move(options),
           done = std::move(done)](absl::StatusOr<SessionHold> hold) mutable {
            if (!hold.ok()) return done(hold.status());
            Branch(*std::move(hold), std::move(options), std::move(done));
          });
}

void SessionRegistry::Branch(SessionHold hold, BranchOptions options, BranchCallback done) {
  if (Find(options.id) != nullptr) return done(SessionExists(options.id));
  Session& source = hold.session();
  source.Branch(options, [this, alive = lifeline_.watch(), hold = std::move(hold), id = options.id,
                          done = std::move(done)](absl::StatusOr<Branched> made) mutable {
    if (!made.ok()) return done(made.status());
    if (!*alive || leaving_) return done(absl::CancelledError("the sessions are being closed"));
    if (Find(id) != nullptr) return done(SessionExists(id));  // opened by a call meanwhile
    // Only now: no session goes for a branch that could not be made.
    if (absl::Status status = MakeRoom(); !status.ok()) return done(status);
    OpenSession& open = sessions_.emplace_back();
    open.key = hold.key();
    open.key.id = id;
    open.settings = hold.settings();
    open.session = std::move(made->session);
    open.last_used = MonotonicNow();
    open.use = next_use_++;
    Connect(open);
    Use(open);
    Rest(open);
    done(std::move(made->standing));
  });
}

void SessionRegistry::List(ListCallback done) {
  std::vector<SessionInfo> infos;
  std::vector<pid_t> workers;
  for (const OpenSession& open : sessions_) {
    if (open.closing) continue;
    infos.push_back({.key = open.key,
                     .owners = open.owners,
                     .busy = open.holder != 0,
                     .waiting = open.waiting.size(),
                     .cells_run = open.session->cells_run(),
                     .worker_pid = open.session->worker_pid(),
                     .last_used = open.last_used});
    for (const KeptSnapshot& kept : open.session->snapshots().kept) {
      infos.back().snapshots.push_back(kept.before_cell);
    }
    if (infos.back().worker_pid > 0) workers.push_back(infos.back().worker_pid);
  }
  memory_.Measure(workers, [infos = std::move(infos), done = std::move(done)](
                               const std::map<pid_t, uint64_t>& sizes) mutable {
    for (SessionInfo& info : infos) {
      if (auto size = sizes.find(info.worker_pid); size != sizes.end()) {
        info.memory_bytes = size->second;
      }
    }
    done(std::move(infos));
  });
}

}  // namespace cellar::host
