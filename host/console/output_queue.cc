#include "host/console/output_queue.h"

#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

#include "host/base/fds.h"

namespace cellar::host {
namespace {

constexpr size_t kPauseBytes = size_t{1} << 20;
// What a pause does not hold up, as displays, is taken up to here.
constexpr size_t kMaxBytes = size_t{16} << 20;

}  // namespace

OutputQueue::OutputQueue(Foreground& foreground, int fd, Events events)
    : foreground_(foreground), fd_(fd), events_(std::move(events)) {}

OutputQueue::~OutputQueue() {
  if (watching_) foreground_.loop().Unwatch(fd_);
}

bool OutputQueue::WantsPause() const { return size() > kPauseBytes; }

void OutputQueue::Write(std::string_view bytes) {
  if (empty()) bytes.remove_prefix(WriteSome(bytes));
  if (bytes.empty() || lost_) return;
  waiting_.append(bytes);
  Watch();
  WaitForRoom();
}

// A pipe that can be written to has room for PIPE_BUF bytes (pipe(7)), so that writing them does
// not block. A file always has room.
size_t OutputQueue::WriteSome(std::string_view bytes) {
  size_t written = 0;
  while (written < bytes.size() && !lost_) {
    pollfd room = {.fd = fd_, .events = POLLOUT};
    if (poll(&room, 1, 0) == 0) break;
    const size_t piece = std::min<size_t>(bytes.size() - written, PIPE_BUF);
    const ssize_t size = write(fd_, bytes.data() + written, piece);
    if (size >= 0) {
      written += static_cast<size_t>(size);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      Lose(errno);
    }
  }
  return written;
}

void OutputQueue::WriteWaiting() {
  const size_t written = WriteSome(std::string_view(waiting_).substr(taken_));
  if (lost_) return;
  taken_ += written;
  // Seldom, because it moves the rest.
  if (taken_ < waiting_.size() - taken_) return;
  waiting_.erase(0, std::exchange(taken_, 0));
}

void OutputQueue::WaitForRoom() {
  while (size() > kMaxBytes) {
    std::array<pollfd, 2> either = {
        {{.fd = fd_, .events = POLLOUT}, {.fd = foreground_.signals(), .events = POLLIN}}};
    poll(either.data(), either.size(), -1);
    if (either[1].revents != 0) return;
    WriteWaiting();
  }
}

void OutputQueue::Watch() {
  if (watching_) return;
  watching_ = foreground_.loop().Watch(fd_, EPOLLOUT, [this](uint32_t) { OnRoom(); }).ok();
  if (watching_) return;
  // There is no memory for it: better late than never.
  if (!WriteAll(fd_, waiting_)) Lose(errno);
  waiting_.clear();
}

void OutputQueue::OnRoom() {
  WriteWaiting();
  if (empty() && std::exchange(watching_, false)) foreground_.loop().Unwatch(fd_);
  if (!WantsPause() && events_.on_room) events_.on_room();
}

void OutputQueue::Lose(int error) {
  lost_ = true;
  waiting_.clear();
  taken_ = 0;
  if (events_.on_lost) events_.on_lost(error);
}

}  // namespace cellar::host
