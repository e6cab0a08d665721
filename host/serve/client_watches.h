// The sessions that one client watches, by the ids of its requests.
//
// Lives on the loop's thread.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "host/base/lifeline.h"
#include "host/serve/request.h"
#include "host/serve/session_watch.h"
#include "host/session/session_hold.h"

namespace cellar::host {

class ClientWatches {
 public:
  // `is_own` is that of SessionWatch.
  ClientWatches(SessionWatch::Place place, std::function<bool(const std::string& handle)> is_own,
                CallStream::Send send)
      : place_(place), is_own_(std::move(is_own)), send_(std::move(send)) {}
  ~ClientWatches();
  ClientWatches(const ClientWatches&) = delete;

  bool Has(const RequestId& id) const;
  // Opens the session if it is not open. When it cannot be watched, the request is refused. No
  // watch of that id may be under way.
  void Start(const RequestId& id, WatchRequest request);
  // Sends its last frame. False when there is none of that id.
  bool Cancel(const RequestId& id);

 private:
  struct Watching {
    RequestId id;
    std::string session;
    TicketId opening = 0;                 // while the session is being opened
    bool cancelled = false;               // meanwhile
    std::unique_ptr<SessionWatch> watch;  // of a session that is open
  };
  using Place = std::list<Watching>::iterator;

  void OnOpened(Place watching, absl::StatusOr<SessionHold> hold);
  void StartNow(Watching& watching);

  const SessionWatch::Place place_;
  const std::function<bool(const std::string&)> is_own_;
  const CallStream::Send send_;
  std::list<Watching> watches_;
  Lifeline lifeline_;
};

}  // namespace cellar::host
