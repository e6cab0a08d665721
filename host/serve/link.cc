#include "host/serve/link.h"

#include <unistd.h>

#include <utility>

#include "host/serve/client.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

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
  requests_.emplace(id, std::move(on_frame));
  Send(request);
  if (lost_) Lose();
  return id;
}

void Link::Send(const ordered_json& request) { stream_.Send(LineOf(request)); }

void Link::OnLine(std::string_view line) {
  const ordered_json frame = ordered_json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!frame.is_object()) return Lose();
  const auto request = requests_.find(TextIn(frame, "id"));
  if (request == requests_.end()) return events_.on_other(frame);
  if (TextIn(frame, "type") != "done") return request->second(frame);
  requests_.extract(request).mapped()(frame);
}

// Posted, because nobody may be called back in the middle of what he asks.
void Link::Lose() {
  lost_ = true;
  stream_.StopReading();
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    for (auto& [id, on_frame] : std::exchange(requests_, {})) {
      on_frame(
          {{"type", "done"},
           {"id", id},
           {"status", "refused"},
           {"error", {{"ename", "CannotRun"}, {"evalue", "the daemon ended before it answered"}}}});
    }
    // In a copy, since the link may be destroyed.
    if (const auto on_gone = std::exchange(events_.on_gone, nullptr)) on_gone();
  });
}

}  // namespace cellar::host
