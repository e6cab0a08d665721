#include "host/serve/line_stream.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "host/base/fds.h"

namespace cellar::host {
namespace {

constexpr size_t kReadBytes = 64u << 10;

// A pipe or terminal opened anew has flags of its own, so that it can be made non-blocking without
// doing that to the other programs that have it.
UniqueFd WithOwnFlags(UniqueFd out) {
  struct stat info;
  if (fstat(out.get(), &info) != 0 || !(S_ISFIFO(info.st_mode) || S_ISCHR(info.st_mode))) {
    return out;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(out.get());
  UniqueFd opened(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (opened) return opened;
  (void)SetNonBlocking(out.get(), true);
  return out;
}

bool IsSocket(int fd) {
  struct stat info;
  return fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode);
}

}  // namespace

LineStream::LineStream(EventLoop& loop, UniqueFd in, UniqueFd out, size_t max_line_bytes,
                       Listener& listener)
    : loop_(loop),
      in_(std::move(in)),
      out_(WithOwnFlags(std::move(out))),
      listener_(listener),
      splitter_(max_line_bytes),
      outbox_(loop, {}, [this] { Write(); }),
      out_is_socket_(IsSocket(out_.get())) {}

LineStream::~LineStream() {
  lifeline_.Cut();
  if (in_is_watched_) loop_.Unwatch(in_.get());
  if (out_is_watched_) loop_.Unwatch(out_.get());
}

void LineStream::Start() {
  // Ask for nothing but the end of the reader, which is always told.
  const absl::Status out =
      loop_.Watch(out_.get(), 0, [this](uint32_t happened) { OnOut(happened); });
  const absl::Status in = loop_.Watch(in_.get(), EPOLLIN, [this](uint32_t) { Read(); });
  out_is_watched_ = out.ok();
  in_is_watched_ = in.ok();
  // A file cannot be watched, and need not be: it is always ready.
  for (const absl::Status& status : {out, in}) {
    if (!status.ok() && !absl::IsPermissionDenied(status)) return Gone(status);
  }
  if (!in_is_watched_) ReadSoon();
}

void LineStream::StopReading() {
  reading_ = false;
  if (std::exchange(in_is_watched_, false)) loop_.Unwatch(in_.get());
}

void LineStream::PauseReading(bool paused) { loop_.Rewatch(in_.get(), paused ? 0u : EPOLLIN); }

void LineStream::ReadSoon() {
  loop_.Post([this, alive = lifeline_.watch()] {
    if (!*alive || !reading_) return;
    Read();
    ReadSoon();
  });
}

// Once for each event, so that a client that sends without end leaves time to the others.
void LineStream::Read() {
  std::array<char, kReadBytes> buffer;
  const ssize_t size = read(in_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (size <= 0) {
    StopReading();
    return listener_.OnEnd(splitter_.has_partial_line());
  }
  splitter_.Write(
      std::string_view(buffer.data(), static_cast<size_t>(size)),
      [this](std::string_view line) {
        if (reading_) listener_.OnLine(line);
      },
      [this] { listener_.OnLineTooLong(); });
}

void LineStream::Send(std::string_view line) {
  if (gone_) return;
  outbox_.Push(line);
  if (std::exchange(write_is_posted_, true)) return;
  loop_.Post([this, alive = lifeline_.watch()] {
    if (!*alive) return;
    write_is_posted_ = false;
    Write();
  });
}

void LineStream::Write() {
  if (gone_) return;
  if (!outbox_.status().ok()) return Gone(outbox_.status());
  if (blocked_) return;
  while (!outbox_.front().empty()) {
    const ssize_t size = WriteSome(outbox_.front());
    if (size >= 0) {
      outbox_.Pop(static_cast<size_t>(size));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN || !out_is_watched_) {
      return Gone(ErrnoStatus(errno, "writing to the client"));
    }
    blocked_ = true;
    return loop_.Rewatch(out_.get(), EPOLLOUT);
  }
  if (outbox_.empty()) listener_.OnDrained();
}

ssize_t LineStream::WriteSome(std::string_view bytes) {
  if (!out_is_socket_) return write(out_.get(), bytes.data(), bytes.size());
  return send(out_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void LineStream::OnOut(uint32_t happened) {
  if (happened & (EPOLLERR | EPOLLHUP)) return Gone(absl::CancelledError("the client has left"));
  blocked_ = false;
  loop_.Rewatch(out_.get(), 0);
  Write();
}

// From a posted task: what it was sent is still being worked at.
void LineStream::Gone(absl::Status status) {
  if (std::exchange(gone_, true)) return;
  StopReading();
  if (std::exchange(out_is_watched_, false)) loop_.Unwatch(out_.get());
  loop_.Post([this, alive = lifeline_.watch(), status = std::move(status)] {
    if (*alive) listener_.OnGone(status);
  });
}

}  // namespace cellar::host
