#include "host/console/console.h"

#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace cellar::host {

absl::StatusOr<std::unique_ptr<Console>> Console::Create(Launch launch) {
  std::unique_ptr<Console> console(new Console(std::move(launch)));
  // Before any thread is made, so that none of them gets these signals in our place.
  sigset_t handled;
  sigemptyset(&handled);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGWINCH}) sigaddset(&handled, signal);
  sigprocmask(SIG_BLOCK, &handled, nullptr);
  console->signals_ = UniqueFd(signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!console->signals_) return ErrnoStatus(errno, "creating a signalfd");
  CELLAR_ASSIGN_OR_RETURN(console->loop_, EventLoop::Create());
  console->artifacts_ = std::make_unique<ArtifactStore>(console->launch_.artifacts_directory);
  console->writer_ = std::make_unique<SpillWriter>();
  console->janitor_ =
      std::make_unique<ArtifactJanitor>(*console->loop_, console->launch_.artifacts_directory,
                                        ArtifactLimitsFrom(console->launch_.settings));
  console->templates_ = std::make_unique<TemplatePool>(*console->loop_);
  console->session_ = console->NewSession();
  return console;
}

Console::~Console() {
  if (signals_ && loop_ != nullptr) loop_->Unwatch(signals_.get());
  janitor_.reset();
  // Those who leave something make room for it, however short they live.
  if (access(launch_.artifacts_directory.c_str(), F_OK) == 0) {
    CleanUpArtifacts(launch_.artifacts_directory, ArtifactLimitsFrom(launch_.settings));
  }
}

std::unique_ptr<Session> Console::NewSession() {
  return std::make_unique<Session>(*loop_, *templates_, storage(), launch_.session);
}

absl::Status Console::WatchSignals(std::function<void()> on_interrupt,
                                   std::function<void()> on_resize) {
  return loop_->Watch(signals_.get(), EPOLLIN, [this, on_interrupt, on_resize](uint32_t) {
    signalfd_siginfo info;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      if (info.ssi_signo == SIGINT) {
        on_interrupt();
      } else if (info.ssi_signo == SIGWINCH) {
        if (on_resize) on_resize();
      } else {
        ended_by_ = static_cast<int>(info.ssi_signo);
        loop_->Stop();
      }
    }
  });
}

void Console::Finish() {
  session_->Close([this] { loop_->Stop(); });
}

}  // namespace cellar::host
