// The client's end of the line protocol, for commands: they have one request and wait for its
// frames. Blocks; what has a loop goes on with a Link.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/base/unique_fd.h"
#include "host/serve/line_splitter.h"
#include "nlohmann/json.hpp"

namespace cellar::host {

// A result may carry all displays of a call.
inline constexpr size_t kMaxFrameBytes = size_t{1} << 30;

class Client {
 public:
  // Waits for the hello. Unavailable when the server ends instead, DeadlineExceeded when it does
  // nothing for `limit`.
  static absl::StatusOr<std::unique_ptr<Client>> Create(UniqueFd socket, absl::Duration limit);

  const std::string& version() const { return version_; }
  int64_t protocol() const { return protocol_; }
  int64_t pid() const { return pid_; }

  // InvalidArgument when it is too long.
  absl::Status Send(const nlohmann::ordered_json& request);
  // The next frame. Unavailable at the end.
  absl::StatusOr<nlohmann::ordered_json> Receive();
  // Whether there is a frame, or the end, within `limit`.
  bool HasFrameWithin(absl::Duration limit);
  // Sends a request and waits for its last frame.
  absl::StatusOr<nlohmann::ordered_json> Ask(const nlohmann::ordered_json& request);
  // The second half of Ask.
  absl::StatusOr<nlohmann::ordered_json> ReceiveLastOf(const nlohmann::ordered_json& request);

  // For a Link that goes on, when every request has been answered.
  const UniqueFd& socket() const { return socket_; }

 private:
  explicit Client(UniqueFd socket);

  UniqueFd socket_;
  LineSplitter splitter_;
  std::deque<std::string> lines_;
  std::string version_;
  int64_t protocol_ = 0;
  int64_t pid_ = 0;
};

}  // namespace cellar::host
