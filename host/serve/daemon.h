// Serves the line protocol on a Unix socket to all programs of one user, one daemon a user. Ends
// when it has had neither sessions nor clients for a while, nor results that somebody may still
// ask for, or when its socket or directory was deleted and the last client has left.
//
// Lives on the loop's thread.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <string>

#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/serve/log_file.h"
#include "host/serve/runtime_directory.h"
#include "host/serve/server.h"
#include "host/serve/session_journal.h"

namespace cellar::host {

// In the runtime directory. The lock is held for as long as the daemon lives; it says its pid.
inline constexpr const char* kDaemonSocket = "socket";
inline constexpr const char* kDaemonLock = "daemon.lock";
// Held by the client that starts a daemon, so that one does.
inline constexpr const char* kStartLock = "start.lock";

inline constexpr absl::Duration kDaemonIdleExit = absl::Minutes(10);

struct DaemonOptions {
  absl::Duration idle_exit = kDaemonIdleExit;
  ToolOffer offer;
  std::function<void()> on_end;  // it is time to end; called once
};

class Daemon {
 public:
  // What it borrows outlives it.
  Daemon(EventLoop& loop, SessionRegistry& registry, CallService& service, ClientBridge& bridge,
         const RuntimeDirectory& directory, LogFile& log, DaemonOptions options);
  ~Daemon();
  Daemon(const Daemon&) = delete;

  // AlreadyExists when another daemon has the lock.
  absl::Status Listen();

 private:
  absl::Status Bind();
  void Accept();
  void OnLeft(const absl::Status& why);
  void CheckIdle();
  // Whether new clients come here: the directory may be another one by now, or empty.
  bool CanBeFound() const;
  void End(std::string_view reason);

  EventLoop& loop_;
  SessionRegistry& registry_;
  CallService& service_;
  const RuntimeDirectory& directory_;
  LogFile& log_;
  DaemonOptions options_;
  SessionJournal journal_;
  Server server_;
  UniqueFd lock_;
  UniqueFd socket_;
  struct stat bound_ = {};  // the socket's file
  EventLoop::TimerId idle_timer_ = 0;
  EventLoop::TimerId accept_timer_ = 0;
  absl::Time last_busy_;
  bool ending_ = false;
};

}  // namespace cellar::host
