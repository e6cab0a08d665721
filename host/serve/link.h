// The client's end of the line protocol on a loop: many requests at a time, and nothing waits. For
// commands that have one request and nothing else to do there is Client.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "host/base/event_loop.h"
#include "host/base/lifeline.h"
#include "host/base/unique_fd.h"
#include "host/serve/line_stream.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

class Link : private LineStream::Listener {
 public:
  // Called with each frame of a request. The last is `done`, and comes once for each request: when
  // the request is too long, or the daemon ends before it has answered, it is a refusal that says
  // so.
  using FrameCallback = absl::AnyInvocable<void(const nlohmann::ordered_json& frame)>;

  struct Events {
    // A frame that is of no request.
    std::function<void(const nlohmann::ordered_json& frame)> on_other =
        [](const nlohmann::ordered_json&) {};
    // Once, when the daemon has ended and all requests have their last frame. The link may be
    // destroyed in it, but in no other call that it makes.
    std::function<void()> on_gone = [] {};
  };

  // What is connected, and has said its hello.
  Link(EventLoop& loop, const UniqueFd& socket, Events events);

  // Returns the id that it gives the request.
  std::string Ask(nlohmann::ordered_json request, FrameCallback on_frame);
  // Cancels what a request of that id has under way, or the call of that handle. It is told by the
  // last frame of that one.
  void Cancel(const std::string& call);
  // While paused no frames come; the daemon keeps them.
  void Pause(bool paused) { stream_.PauseReading(paused); }
  // For requests that have no answer.
  void Send(const nlohmann::ordered_json& request);

 private:
  void OnLine(std::string_view line) override;
  void OnLineTooLong() override { Lose(); }
  void OnEnd(bool) override { Lose(); }
  void OnDrained() override {}
  void OnGone(const absl::Status&) override { Lose(); }
  void Lose(absl::Status why = absl::UnavailableError("the daemon ended before it answered"));

  EventLoop& loop_;
  LineStream stream_;
  Events events_;
  std::map<std::string, FrameCallback> requests_;
  uint64_t next_id_ = 1;
  bool lost_ = false;
  Lifeline lifeline_;
};

}  // namespace cellar::host
