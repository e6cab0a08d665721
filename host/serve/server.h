// The line protocol for any number of clients: one set of sessions, one connection a client. Knows
// no sockets; what listens gives it the descriptors of those who come.
//
// Lives on the loop's thread.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "host/base/event_loop.h"
#include "host/base/task_thread.h"
#include "host/eval/call_service.h"
#include "host/serve/client_bridge.h"
#include "host/serve/connection.h"
#include "host/serve/notebook_job.h"
#include "host/session/preflight.h"
#include "host/session/registry.h"

namespace cellar::host {

// The version of the line protocol: raised when a client that knows the old one would go wrong.
inline constexpr int kLineProtocol = 1;

struct ServerOptions {
  ToolOffer offer;
  absl::Status unavailable;  // not ok: no cells can be run, and why
  bool relative_cwd = true;  // a call's may be one in the server's directory, which clients know
  // A client is gone: of its own accord, or not ok, because it could not be served any more.
  std::function<void(const absl::Status& why)> on_left = [](const absl::Status&) {};
  std::function<void()> on_shutdown = [] {};  // a client wants the server to end
  // A client has had the sessions of that name closed.
  std::function<void(const std::string& session)> on_closed = [](const std::string&) {};
};

class Server {
 public:
  // What it borrows outlives it; the bridge outlives the registry's sessions too.
  Server(EventLoop& loop, SessionRegistry& registry, CallService& service, ClientBridge& bridge,
         ServerOptions options);
  ~Server();
  Server(const Server&) = delete;

  // Serves a client. Two descriptors, also of a socket.
  void Serve(UniqueFd in, UniqueFd out);
  size_t clients() const { return connections_.size(); }

  // As Cancel for every call of every client.
  void InterruptCalls();

 private:
  friend class Connection;

  void SendHello(Connection& connection) const;
  NotebookJob& RunNotebook(NotebookSessionRun request, CallStream& stream,
                           NotebookJob::DoneCallback done);
  void Remove(Connection& connection, absl::Status why);
  // A connection makes calls in this owner's name, or does no more.
  void AddOwner(const std::string& owner) { ++owners_[owner]; }
  void RemoveOwner(const std::string& owner);
  // True also when a call is about to open one.
  bool has_sessions() const { return registry_.size() > 0 || registry_.busy(); }

  EventLoop& loop_;
  SessionRegistry& registry_;
  CallService& service_;
  ClientBridge& bridge_;
  ServerOptions options_;
  TaskThread files_;  // reads and writes them, so that the loop does not wait for a disk
  std::list<std::unique_ptr<NotebookJob>> notebooks_;
  std::list<std::unique_ptr<Connection>> connections_;
  std::map<std::string, int> owners_;  // how many connections act for each
};

}  // namespace cellar::host
