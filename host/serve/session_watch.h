// A client's look at a session: the frames that tell it of the calls of others, and of where the
// session stands.
//
// Lives on the loop's thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "host/base/event_loop.h"
#include "host/eval/call_service.h"
#include "host/eval/session_watcher.h"
#include "host/serve/call_stream.h"
#include "host/serve/text_decoder.h"

namespace cellar::host {

class SessionWatch : public SessionWatcher {
 public:
  struct Place {
    EventLoop& loop;
    SessionRegistry& registry;
    CallService& service;
  };

  // `is_own` tells the client's own calls by their handles: their frames reach it anyway.
  SessionWatch(Place place, RequestId id, std::string session,
               std::function<bool(const std::string& handle)> is_own, CallStream::Send send);
  ~SessionWatch() override;
  SessionWatch(const SessionWatch&) = delete;

  // Says where the session stands, and goes on to do so.
  void Start();

 private:
  std::unique_ptr<CallObserver> OnCall(const WatchedCall& call) override;
  void OnCallOver(const std::string& handle) override;
  void OnBackgroundText(Stream stream, std::string_view text) override;
  void OnBackgroundDisplay(const wire::Display& display) override;
  void OnChange(SessionChange change) override;

  uint32_t CellThatStarts() const;
  void FinishBackgroundText();
  void SendBackgroundText(Stream stream, const std::string& text);
  void SendState(std::string_view change);

  const Place place_;
  const RequestId id_;
  const std::string session_;
  const std::function<bool(const std::string&)> is_own_;
  const CallStream::Send send_;
  StreamDecoders decoders_;  // of background output
  std::string running_;      // handle of the call that has the session; or empty
  std::string by_;           // whose it is
};

}  // namespace cellar::host
