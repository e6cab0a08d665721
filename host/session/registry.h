// The sessions of a host by their keys. Finds or opens the session that a call wants, lets one call
// at a time have it, and closes sessions: when their last owner leaves, when nobody used them for
// long, when room is needed.
//
// Lives on the loop's thread. Runs no cells itself.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/session/launcher.h"
#include "host/session/lost_states.h"
#include "host/session/memory_watch.h"
#include "host/session/session.h"
#include "host/session/session_hold.h"
#include "host/session/session_limits.h"
#include "host/session/session_listener.h"
#include "host/session/session_query.h"

namespace cellar::host {

class SessionRegistry {
 public:
  using HoldCallback = absl::AnyInvocable<void(absl::StatusOr<SessionHold>)>;
  using ListCallback = absl::AnyInvocable<void(std::vector<SessionInfo>)>;

  // What it borrows outlives it.
  SessionRegistry(EventLoop& loop, TemplatePool& templates, OutputStorage storage,
                  Launcher& launcher, SessionLimits limits);
  // All holds are gone, and CloseAll() has called back.
  ~SessionRegistry();
  SessionRegistry(const SessionRegistry&) = delete;

  // `held` is called from a posted task, once: in order of arrival for one session. A Status says
  // why the session cannot be had.
  TicketId Acquire(SessionQuery query, HoldCallback held);
  // The request's `held` is called with Cancelled. False when it is held already, or over.
  bool Withdraw(TicketId ticket);
  // Whose hold a waiting request waits for; 0 when it does not wait for one.
  TicketId HolderBefore(TicketId ticket) const;

  // An owner leaves all sessions. One that is its owners' alone and has none left is closed as soon
  // as no call wants it; if somebody watches it, it rests as others do.
  void Leave(const std::string& owner);

  // Closes the sessions of that id; a call that runs on one is ended. False when there is none;
  // `done` is called all the same.
  bool Close(const std::string& id, EventLoop::Task done);
  void CloseAll(EventLoop::Task done);

  // Hears of all sessions, until it is taken away.
  void Add(SessionListener& listener) { listeners_.push_back(&listener); }
  void Remove(SessionListener& listener) { std::erase(listeners_, &listener); }

  // Answers the calls of the cells of all sessions opened from now on, and outlives them.
  void AnswerCalls(BridgeProvider* provider) { bridge_ = provider; }
  // Tells all sessions what the provider offers now.
  void RenewOffers();

  using BranchCallback = absl::AnyInvocable<void(absl::StatusOr<Standing>)>;
  // A new session of the id in `options` that goes on from where the session of `id` stands, or
  // stood, after the calls that came before.
  void Branch(const std::string& id, BranchOptions options, BranchCallback done);

  // A session of that id, when next opened, says in its first result why it is empty.
  void ExpectState(const std::string& id, std::string reason) { lost_.Note(id, std::move(reason)); }

  // The session of that id that was used last; null when there is none.
  Session* Find(const std::string& id);
  // How many sessions of that id are open: in other directories, with other interpreters.
  size_t CountOf(const std::string& id) const;
  size_t size() const { return sessions_.size(); }
  // Whether a call has a session or waits for one.
  bool busy() const;
  // `done` is called from a posted task; memory is measured first.
  void List(ListCallback done);

 private:
  friend class SessionHold;

  // All that is kept of a request once its session is known: thousands may wait.
  struct Turn {
    TicketId ticket = 0;
    bool runs_cells = true;
    std::vector<std::string> notices;  // for the first cell's outcome
    HoldCallback held;                 // null: withdrawn
  };
  struct Request {
    SessionQuery query;
    Turn turn;
  };
  class BackgroundRelay;
  struct OpenSession {
    SessionKey key;
    Settings settings;
    std::unique_ptr<CellObserver> background;  // a BackgroundRelay; outlives the session
    bool has_unheard = false;                  // background output that nobody was told of
    std::unique_ptr<Session> session;
    bool per_call = false;
    std::set<std::string> owners;
    bool is_owned = false;  // an owner has opened it, and nobody else has run cells there
    bool used = false;      // state can be expected of it
    std::deque<Turn> waiting;
    TicketId holder = 0;
    absl::Time last_used;
    uint64_t use = 0;  // orders uses; times may be equal
    EventLoop::TimerId idle_timer = 0;
    bool closing = false;
    bool closed = false;
    std::vector<EventLoop::Task> when_closed;

    bool idle() const { return holder == 0 && waiting.empty() && !closing; }
  };

  void Admit(const std::string& id);
  // `open`: the session that it is for, or null.
  void Place(Request request, OpenSession* open, const absl::StatusOr<Launch>& launch);
  OpenSession* MatchAsGiven(const SessionQuery& query);
  OpenSession* Match(const SessionQuery& query, const Launch& launch);
  // Of those that fit; null when there is none. An empty `cwd` or `interpreter` fits all.
  OpenSession* UsedLast(const std::string& id, const std::string& cwd = "",
                        const std::string& interpreter = "");
  absl::StatusOr<OpenSession*> Open(const SessionQuery& query, const Launch& launch);
  // By closing the one that was idle for longest.
  absl::Status MakeRoom();
  // Why a new session of that id starts empty although state could be expected; or empty.
  std::string WhyEmpty(const std::string& id);
  void Connect(OpenSession& open);
  void Branch(SessionHold hold, BranchOptions options, BranchCallback done);
  void Join(OpenSession& open, Request request);
  void Grant(OpenSession& open);
  void Use(OpenSession& open);
  OpenSession& HeldBy(TicketId ticket);
  bool IsWatched(const OpenSession& open) const;
  void Release(TicketId ticket);
  void Rest(OpenSession& open);
  void Fail(Turn turn, absl::Status status);

  void StartClosing(OpenSession& open, EventLoop::Task when_closed);
  void Forget(OpenSession& open);
  void Evict(OpenSession& open, std::string reason, EventLoop::Task when_closed);
  void Relieve(const Session* asking, EventLoop::Task done);

  EventLoop& loop_;
  TemplatePool& templates_;
  OutputStorage storage_;
  Launcher& launcher_;
  SessionLimits limits_;
  BridgeProvider* bridge_ = nullptr;
  std::vector<SessionListener*> listeners_;

  SnapshotAccount snapshots_;  // of all sessions
  std::list<OpenSession> sessions_;
  // By session id, in order of arrival: requests whose session is not known yet. The first of each
  // waits for its launch.
  std::map<std::string, std::deque<Request>> arrivals_;
  TicketId next_ticket_ = 1;
  uint64_t next_use_ = 1;
  LostStates lost_;
  bool leaving_ = false;
  EventLoop::Task when_left_;
  Lifeline lifeline_;
  MemoryWatch memory_;
};

}  // namespace cellar::host
