#include "host/serve/link.h"

#include <unistd.h>

#include <utility>

#include "host/serve/client.h"
#include "host/serve/frame.h"
#include "host/serve/frame_fields.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

// The last frame of a request that the daemon has not answered.
ordered_json Refusal(const std::string& id, const absl::Status& why) {
  return ordered_json::parse(RefusedFrame({.json = ordered_json(id).dump()}, why));
}

}  // namespace

Link::Link(EventLoop& loop, const UniqueFd& socket, Events events)
    : loop_(loop),
      stream_(loop, UniqueFd(dup(socket.get())), UniqueFd(dup(socket.get())), kMaxFrameBytes,
              *this),
      events_(std::move(events)) {
  stream_.Start();
}

std::string Link::Ask(ordered_json request, FrameCallback on_frame) {
  std::string id = std::to_string(next_id_++);
  request["id"] = id;
  const absl::StatusOr<std::string> line = LineOf(request);
  if (!line.ok()) {
    loop_.Post([alive = lifeline_.watch(), refusal = Refusal(id, line.status()),
                on_frame = std::move(on_frame)]() mutable {
      if (*alive) on_frame(refusal);
    });
    return id;
  }
  requests_.emplace(id, std::move(on_frame));
  stream_.Send(*line);
  if (lost_) Lose();
  return id;
}

void Link::Cancel(const std::string& call) {
  Ask({{"type", "cancel"}, {"call", call}}, [](const ordered_json&) {});
}

void Link::Send(const ordered_json& request) {
  const absl::StatusOr<std::string> line = LineOf(request);
  if (!line.ok()) return Lose(line.status());
  stream_.Send(*line);
}

void Link::OnLine(std::string_view line) {
  const ordered_json frame = ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!frame.is_object()) return Lose();
  // Which request that was cannot be told.
  if (absl::Status status = ProtocolErrorIn(frame); !status.ok()) return Lose(std::move(status));
  const auto request = requests_.find(TextIn(frame, "id"));
  if (request == requests_.end()) return events_.on_other(frame);
  if (TextIn(frame, "type") != "done") return request->second(frame);
  requests_.extract(request).mapped()(frame);
}

// Posted, because nobody may be called back in the middle of what he asks.
void Link::Lose(absl::Status why) {
  lost_ = true;
  stream_.StopReading();
  loop_.Post([this, alive = lifeline_.watch(), why = std::move(why)] {
    if (!*alive) return;
    for (auto& [id, on_frame] : std::exchange(requests_, {})) on_frame(Refusal(id, why));
    // In a copy, since the link may be destroyed.
    if (const auto on_gone = std::exchange(events_.on_gone, nullptr)) on_gone();
  });
}

}  // namespace cellar::host
