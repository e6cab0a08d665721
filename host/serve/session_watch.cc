#include "host/serve/session_watch.h"

#include <utility>

#include "host/eval/result_json.h"
#include "host/serve/frame.h"
#include "host/session/registry.h"

namespace cellar::host {
namespace {

std::string_view NameOf(SessionChange change) {
  switch (change) {
    case SessionChange::kReset:
      return "reset";
    case SessionChange::kRewound:
      return "rewound";
    case SessionChange::kClosed:
      return "closed";
  }
  return "";
}

}  // namespace

SessionWatch::SessionWatch(Place place, RequestId id, std::string session,
                           std::function<bool(const std::string& handle)> is_own,
                           CallStream::Send send)
    : place_(place),
      id_(std::move(id)),
      session_(std::move(session)),
      is_own_(std::move(is_own)),
      send_(std::move(send)) {}

SessionWatch::~SessionWatch() { place_.service.Unwatch(*this); }

void SessionWatch::Start() {
  place_.service.Watch(session_, *this);
  if (running_.empty()) SendState("");  // else it has been said
}

std::unique_ptr<CallObserver> SessionWatch::OnCall(const WatchedCall& call) {
  FinishBackgroundText();  // or the rest of a character would come as the call's
  // One that is nested has the session no more than the one that waits for it.
  if (!call.is_nested) {
    running_ = call.handle;
    by_ = call.by;
    SendState("");
  }
  if (is_own_(call.handle)) return nullptr;
  return CallStream::CreateWatched(
      place_.loop, id_, call, [this] { return CellThatStarts(); }, send_);
}

// Who comes late is told of a cell that has its number already.
uint32_t SessionWatch::CellThatStarts() const {
  const Session* session = place_.registry.Find(session_);
  if (session == nullptr) return 1;
  return session->running_cell().value_or(session->next_cell());
}

void SessionWatch::OnCallOver(const std::string& handle) {
  if (running_ != handle) return;
  running_.clear();
  SendState("");
}

void SessionWatch::OnBackgroundText(Stream stream, std::string_view text) {
  SendBackgroundText(stream, decoders_.Of(stream).Decode(text));
}

void SessionWatch::OnBackgroundDisplay(const wire::Display& display) {
  FinishBackgroundText();
  const CellOutput output = OutputOf(display);
  Frame frame(OutputTypeName(output.type), id_);
  WriteOutputFields(output, frame.json());
  frame.Key("background").Bool(true);
  send_(frame.Take());
}

void SessionWatch::FinishBackgroundText() {
  for (Stream stream : {Stream::kStdout, Stream::kStderr}) {
    SendBackgroundText(stream, decoders_.Of(stream).Finish());
  }
}

void SessionWatch::SendBackgroundText(Stream stream, const std::string& text) {
  if (text.empty()) return;
  Frame frame(stream == Stream::kStdout ? "stdout" : "stderr", id_);
  frame.Key("text").String(text);
  frame.Key("background").Bool(true);
  send_(frame.Take());
}

void SessionWatch::OnChange(SessionChange change) { SendState(NameOf(change)); }

void SessionWatch::SendState(std::string_view change) {
  Session* session = place_.registry.Find(session_);
  Frame frame("state", id_);
  frame.Key("session").String(session_);
  frame.Key("next_cell").Number(session == nullptr ? 1 : session->next_cell());
  if (!running_.empty()) {
    frame.Key("running").BeginObject();
    frame.Key("call").String(running_).Key("by").String(by_).Key("own").Bool(is_own_(running_));
    frame.json().EndObject();
  }
  if (!change.empty()) frame.Key("change").String(change);
  send_(frame.Take());
}

}  // namespace cellar::host
