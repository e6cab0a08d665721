#include "host/serve/client.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "host/base/fds.h"
#include "host/base/status.h"
#include "host/serve/frame_fields.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

bool IsReadableWithin(int fd, absl::Duration limit) {
  pollfd readable = {.fd = fd, .events = POLLIN};
  int ready = -1;
  do {
    ready = poll(&readable, 1, static_cast<int>(absl::ToInt64Milliseconds(limit)));
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

}  // namespace

Client::Client(UniqueFd socket) : socket_(std::move(socket)), splitter_(kMaxFrameBytes) {}

absl::StatusOr<std::unique_ptr<Client>> Client::Create(UniqueFd socket, absl::Duration limit) {
  if (!IsReadableWithin(socket.get(), limit)) {
    return absl::DeadlineExceededError("the daemon does not answer");
  }
  std::unique_ptr<Client> client(new Client(std::move(socket)));
  CELLAR_ASSIGN_OR_RETURN(const ordered_json hello, client->Receive());
  client->version_ = TextIn(hello, "version");
  client->protocol_ = NumberIn(hello, "protocol");
  client->pid_ = NumberIn(hello, "pid");
  return client;
}

absl::Status Client::Send(const ordered_json& request) {
  CELLAR_ASSIGN_OR_RETURN(const std::string line, LineOf(request));
  if (WriteAll(socket_.get(), line)) return absl::OkStatus();
  return absl::UnavailableError("the daemon has ended");
}

absl::StatusOr<ordered_json> Client::Receive() {
  std::array<char, 64u << 10> buffer;
  while (lines_.empty()) {
    const ssize_t size = read(socket_.get(), buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return absl::UnavailableError("the daemon has ended");
    bool too_long = false;
    splitter_.Write(
        std::string_view(buffer.data(), static_cast<size_t>(size)),
        [this](std::string_view line) { lines_.emplace_back(line); }, [&] { too_long = true; });
    if (too_long) return absl::DataLossError("the daemon sent too long a line");
  }
  ordered_json frame = ordered_json::parse(lines_.front(), nullptr, /*allow_exceptions=*/false);
  lines_.pop_front();
  if (!frame.is_object()) return absl::DataLossError("the daemon sent what is no frame");
  CELLAR_RETURN_IF_ERROR(ProtocolErrorIn(frame));
  return frame;
}

bool Client::HasFrameWithin(absl::Duration limit) {
  return !lines_.empty() || IsReadableWithin(socket_.get(), limit);
}

absl::StatusOr<ordered_json> Client::Ask(const ordered_json& request) {
  CELLAR_RETURN_IF_ERROR(Send(request));
  return ReceiveLastOf(request);
}

absl::StatusOr<ordered_json> Client::ReceiveLastOf(const ordered_json& request) {
  while (true) {
    CELLAR_ASSIGN_OR_RETURN(ordered_json frame, Receive());
    if (TextIn(frame, "type") == "done" && TextIn(frame, "id") == TextIn(request, "id")) {
      return frame;
    }
  }
}

}  // namespace cellar::host
