// The sessions that one client watches, by the ids of its requests.
//
// Lives on the loop's thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "host/serve/request.h"
#include "host/serve/session_watch.h"
#include "host/session/registry.h"

namespace cellar::host {

class ClientWatches {
 public:
  // `is_own` is that of SessionWatch.
  ClientWatches(SessionWatch::Place place, std::function<bool(const std::string& handle)> is_own,
                CallStream::Send send)
      : place_(place), is_own_(std::move(is_own)), send_(std::move(send)) {}
  ~ClientWatches();
  ClientWatches(const ClientWatches&) = delete;

  // Opens the session if it is not. When it cannot be watched, the request is refused.
  void Start(const RequestId& id, WatchRequest request);
  // Its last frame has been sent then. False when there is none of that id.
  bool Cancel(const RequestId& id);

 private:
  void OnOpened(const RequestId& id, const std::string& session, absl::StatusOr<SessionHold> hold);
  void StartNow(const RequestId& id, const std::string& session);

  const SessionWatch::Place place_;
  const std::function<bool(const std::string&)> is_own_;
  const CallStream::Send send_;
  std::map<RequestId, std::unique_ptr<SessionWatch>> watches_;  // null: the session is being opened
  // False once this is gone; sessions that are being opened look here first.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace cellar::host
