#include "embed/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace cellar::embed {
namespace {

constexpr size_t kReadSize = 64u << 10;

}  // namespace

Channel::Channel(UniqueFd fd) : fd_(std::move(fd)) {
  struct stat info = {};
  fstat(fd_.get(), &info);
  inode_ = info.st_ino;
}

void Channel::Send(const std::string& frame) {
  std::lock_guard lock(sending_);
  if (!StillOurs()) _exit(kExitChannelLost);
  std::string_view rest = frame;
  while (!rest.empty()) {
    ssize_t sent = send(fd_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
    } else if (errno == EAGAIN) {
      pollfd ready = {fd_.get(), POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      _exit(kExitChannelLost);
    }
  }
}

std::vector<Channel::Message> Channel::Receive() {
  char buffer[kReadSize];
  ssize_t size = recv(fd_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
  if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) _exit(0);
  if (size > 0) decoder_.Feed(std::string_view(buffer, static_cast<size_t>(size)));
  std::vector<Message> messages;
  while (true) {
    auto frame = decoder_.Next();
    if (!frame.ok()) _exit(kExitChannelLost);
    if (!*frame) return messages;
    messages.push_back({(*frame)->type, std::string((*frame)->payload)});
  }
}

bool Channel::StillOurs() const {
  struct stat info;
  return fstat(fd_.get(), &info) == 0 && info.st_ino == inode_;
}

}  // namespace cellar::embed
