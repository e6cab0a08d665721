#include "embed/line.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "embed/fork_guard.h"
#include "host/base/fds.h"

namespace cellar::embed {

absl::StatusOr<std::unique_ptr<Line>> Line::Open(Channel& channel, bool of_main_thread) {
  CELLAR_ASSIGN_OR_RETURN(auto sockets, MakeSocketPair(SOCK_STREAM));
  auto& [ours, hosts] = sockets;
  struct stat info;
  if (fstat(ours.get(), &info) != 0) return ErrnoStatus(errno, "looking at a new socket");
  channel.SendWithFd(wire::MessageFrame(wire::OpenLine{.of_main_thread = of_main_thread}),
                     hosts.get());
  return std::unique_ptr<Line>(new Line(std::move(ours), info.st_ino));
}

Line::~Line() {
  if (IsOurs() && !IsForkedChild()) shutdown(fd_.get(), SHUT_RDWR);
  Abandon();
}

void Line::Abandon() {
  // When a cell has closed it, the number may be that of a file of its own.
  if (!IsOurs()) fd_.release();
  fd_.reset();
}

absl::Status Line::Start(const wire::BridgeCall& call) {
  CELLAR_RETURN_IF_ERROR(SendFrame(wire::MessageFrame(call)));
  waiting_.insert(call.call);
  return absl::OkStatus();
}

void Line::Withdraw(uint64_t call) {
  answers_.erase(call);
  std::erase_if(nested_, [call](const auto& nested) { return nested.call == call; });
  if (waiting_.erase(call) == 0) return;
  // A line that is lost has nobody at its other end to tell.
  (void)SendFrame(wire::MessageFrame(wire::BridgeWithdraw{.call = call}));
}

absl::Status Line::SendFrame(const std::string& frame) {
  if (!IsOpen()) return Lose();
  std::string_view rest = frame;
  while (!rest.empty()) {
    ssize_t sent = send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
    } else if (errno != EINTR) {
      return Lose();
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Line::Received> Line::Receive(Wait wait) {
  if (!IsOpen()) return Lose();
  ssize_t size =
      recv(fd_.get(), buffer_.data(), buffer_.size(), wait == Wait::kNo ? MSG_DONTWAIT : 0);
  if (size < 0 && errno == EINTR) return Received::kSignal;
  if (size < 0 && errno == EAGAIN) return Received::kNothing;
  if (size <= 0) return Lose();
  decoder_.Feed(std::string_view(buffer_.data(), static_cast<size_t>(size)));
  CELLAR_RETURN_IF_ERROR(TakeFrames());
  return Received::kSomething;
}

absl::Status Line::TakeFrames() {
  while (true) {
    CELLAR_ASSIGN_OR_RETURN(std::optional<wire::Frame> frame, decoder_.Next());
    if (!frame) return absl::OkStatus();
    switch (static_cast<wire::MessageType>(frame->type)) {
      case wire::MessageType::kBridgeAnswer:
        if (auto answer = wire::Decode<wire::BridgeAnswer>(frame->payload)) {
          const uint64_t call = answer->call;
          if (waiting_.erase(call) > 0) answers_.insert_or_assign(call, *std::move(answer));
        }
        break;
      case wire::MessageType::kBridgeNested:
        if (auto nested = wire::Decode<wire::BridgeNested>(frame->payload)) {
          if (waiting_.contains(nested->call)) nested_.push_back(*std::move(nested));
        }
        break;
      case wire::MessageType::kBridgeOffer:
        if (auto offer = wire::Decode<wire::BridgeOffer>(frame->payload)) {
          offers_.push_back(*std::move(offer));
        }
        break;
      default:
        break;
    }
  }
}

absl::Status Line::Lose() {
  lost_ = true;
  return absl::UnavailableError(
      "the host has closed the line of this thread; it takes 256 of a session at a time");
}

std::optional<wire::BridgeAnswer> Line::TakeAnswer(uint64_t call) {
  auto found = answers_.extract(call);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

std::vector<wire::BridgeAnswer> Line::TakeAnswers() {
  std::vector<wire::BridgeAnswer> taken;
  for (auto& [call, answer] : std::exchange(answers_, {})) taken.push_back(std::move(answer));
  return taken;
}

std::optional<wire::BridgeNested> Line::TakeNested(uint64_t call) {
  if (nested_.empty() || nested_.front().call != call) return std::nullopt;
  wire::BridgeNested nested = std::move(nested_.front());
  nested_.pop_front();
  return nested;
}

std::vector<wire::BridgeOffer> Line::TakeOffers() { return std::exchange(offers_, {}); }

bool Line::IsOurs() const {
  struct stat info;
  return fd_ && fstat(fd_.get(), &info) == 0 && info.st_ino == inode_;
}

}  // namespace cellar::embed
