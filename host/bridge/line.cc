#include "host/bridge/line.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

namespace cellar::host {
namespace {

constexpr size_t kReadSize = 64u << 10;

int SocketOption(int socket, int option) {
  int value = -1;
  socklen_t size = sizeof(value);
  return getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Line>> Line::Create(EventLoop& loop, UniqueFd socket,
                                                   bool of_main_thread, LineListener& listener) {
  // A cell can pass any descriptor; frames come over this kind only.
  if (SocketOption(socket.get(), SO_DOMAIN) != AF_UNIX ||
      SocketOption(socket.get(), SO_TYPE) != SOCK_STREAM) {
    return absl::DataLossError("the worker sent something that is not a line");
  }
  std::unique_ptr<Line> line(new Line(loop, std::move(socket), of_main_thread, listener));
  CELLAR_RETURN_IF_ERROR(loop.Watch(line->socket_.get(), EPOLLIN,
                                    [&line = *line](uint32_t events) { line.OnEvents(events); }));
  return line;
}

Line::Line(EventLoop& loop, UniqueFd socket, bool of_main_thread, LineListener& listener)
    : loop_(loop),
      socket_(std::move(socket)),
      of_main_thread_(of_main_thread),
      listener_(listener),
      sender_(loop, socket_.get(), EPOLLIN) {}

Line::~Line() { loop_.Unwatch(socket_.get()); }

void Line::OnEvents(uint32_t events) {
  if ((events & EPOLLOUT) != 0) sender_.Flush();
  if ((events & ~uint32_t{EPOLLOUT}) != 0 && !ended_) Read();
}

void Line::Read() {
  static thread_local std::array<char, kReadSize> buffer;
  ssize_t size = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return End();
  decoder_.Feed(std::string_view(buffer.data(), static_cast<size_t>(size)));
  while (!ended_) {
    auto frame = decoder_.Next();
    if (!frame.ok()) return End();
    if (!*frame) return;
    const auto type = static_cast<wire::MessageType>((*frame)->type);
    Trace(wire::FrameDirection::kFromWorker, type, (*frame)->payload);
    switch (type) {
      case wire::MessageType::kBridgeCall: {
        auto call = wire::Decode<wire::BridgeCall>((*frame)->payload);
        if (!call) return End();
        listener_.OnCall(*this, *std::move(call));
        break;
      }
      case wire::MessageType::kBridgeWithdraw: {
        auto withdraw = wire::Decode<wire::BridgeWithdraw>((*frame)->payload);
        if (!withdraw) return End();
        listener_.OnWithdraw(*this, withdraw->call);
        break;
      }
      default:
        return End();
    }
  }
}

void Line::SendOffer(const wire::BridgeOffer& offer) {
  if (offered_[static_cast<size_t>(offer.kind)] >= offer.sequence) return;
  NoteOffer(offer);
  Send(offer);
}

void Line::NoteOffer(const wire::BridgeOffer& offer) {
  offered_[static_cast<size_t>(offer.kind)] = offer.sequence;
}

void Line::End() {
  if (std::exchange(ended_, true)) return;
  loop_.Unwatch(socket_.get());
  listener_.OnLineEnd(*this);
}

}  // namespace cellar::host
