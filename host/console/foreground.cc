#include "host/console/foreground.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "host/base/status.h"

namespace cellar::host {

absl::StatusOr<std::unique_ptr<Foreground>> Foreground::Create() {
  std::unique_ptr<Foreground> foreground(new Foreground);
  sigset_t handled;
  sigemptyset(&handled);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&handled, signal);
  sigprocmask(SIG_BLOCK, &handled, nullptr);
  foreground->signals_ = UniqueFd(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!foreground->signals_) return ErrnoStatus(errno, "creating a signalfd");
  CELLAR_ASSIGN_OR_RETURN(foreground->loop_, EventLoop::Create());
  return foreground;
}

Foreground::~Foreground() {
  if (signals_ && loop_ != nullptr) loop_->Unwatch(signals_.get());
}

absl::Status Foreground::WatchSignals(std::function<void()> on_interrupt,
                                      std::function<void()> on_resize) {
  return loop_->Watch(signals_.get(), EPOLLIN, [this, on_interrupt, on_resize](uint32_t) {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      if (info.ssi_signo == SIGINT) {
        on_interrupt();
      } else if (info.ssi_signo == SIGWINCH) {
        if (on_resize) on_resize();
      } else {
        exit_code_ = 128 + static_cast<int>(info.ssi_signo);  // as a shell says it
        loop_->Stop();
      }
    }
  });
}

}  // namespace cellar::host
