#include "host/worker/template.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "host/base/fds.h"
#include "host/base/startup_trace.h"
#include "host/wire/control.h"
#include "host/worker/birth.h"

namespace cellar::host {
namespace {

constexpr int kLeaveMilliseconds = 200;
constexpr absl::Duration kCollectAgain = absl::Milliseconds(100);
// Of a worker, once Python has started.
constexpr absl::Duration kBirthLimit = absl::Seconds(10);
// The last words of a template that could not start.
constexpr size_t kLogTail = 4096;

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string DirectoryOf(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}

bool HasEnded(int pidfd, int milliseconds) {
  pollfd ended = {pidfd, POLLIN, 0};
  return poll(&ended, 1, milliseconds) > 0;
}

// Takes what is left of a process that has ended. False while it cannot be had: a debugger has the
// first look.
bool CollectProcess(int pidfd) {
  siginfo_t collected = {};
  return waitid(P_PIDFD, static_cast<id_t>(pidfd), &collected, WEXITED | WNOHANG) != 0 ||
         collected.si_pid != 0;
}

bool IsWritable(int socket) {
  pollfd ready = {socket, POLLOUT, 0};
  return poll(&ready, 1, 0) > 0;
}

// The worker program takes it out again before cells can see it.
void PutInFront(const std::string& directory, std::vector<std::string>& environment) {
  constexpr std::string_view kName = "LD_LIBRARY_PATH=";
  for (std::string& entry : environment) {
    if (!entry.starts_with(kName)) continue;
    entry.insert(kName.size(), directory + ":");
    return;
  }
  environment.push_back(std::string(kName) + directory);
}

}  // namespace

absl::StatusOr<std::shared_ptr<Template>> Template::Start(EventLoop& loop,
                                                          TemplateOptions options) {
  std::shared_ptr<Template> self(new Template(loop, std::move(options)));
  CELLAR_RETURN_IF_ERROR(self->Spawn());
  return self;
}

Template::~Template() {
  loop_.Cancel(start_timer_);
  loop_.Cancel(collect_timer_);
  if (control_) loop_.Unwatch(control_.get());
  if (log_) loop_.Unwatch(log_.get());
  if (!process_.pidfd) return;
  loop_.Unwatch(process_.pidfd.get());
  Dismiss();
  if (!HasEnded(process_.pidfd.get(), kLeaveMilliseconds)) {
    SignalPidfd(process_.pidfd.get(), SIGKILL);
    HasEnded(process_.pidfd.get(), kLeaveMilliseconds);
  }
  // Whoever traces it, a leak checker of its own perhaps, is about to end too.
  for (int waited = 0; !CollectProcess(process_.pidfd.get()) && waited < kLeaveMilliseconds;
       ++waited) {
    poll(nullptr, 0, 1);
  }
}

absl::Status Template::Spawn() {
  CELLAR_ASSIGN_OR_RETURN(auto control, MakeSocketPair(SOCK_SEQPACKET));
  CELLAR_ASSIGN_OR_RETURN(Pipe log, MakePipe());
  CELLAR_ASSIGN_OR_RETURN(UniqueFd self, OpenPidfd(getpid()));
  UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return ErrnoStatus(errno, "opening /dev/null");
  CELLAR_ASSIGN_OR_RETURN(null, MoveHigh(std::move(null)));
  SpawnOptions spawn = {.program = options_.program,
                        .environment = options_.environment,
                        .fds = {{null.get(), STDIN_FILENO},
                                {log.write.get(), STDOUT_FILENO},
                                {log.write.get(), STDERR_FILENO},
                                {control.second.get(), wire::kControlFd},
                                {self.get(), wire::kHostAliveFd}}};
  wire::Start start = {.executable = options_.executable,
                       .home = options_.home,
                       .library_directory = DirectoryOf(options_.libpython),
                       .site_packages = options_.site_packages,
                       .prefix = options_.prefix,
                       .preload = options_.preload};
  if (!start.library_directory.empty()) {
    PutInFront(start.library_directory, spawn.environment);
  }
  CELLAR_ASSIGN_OR_RETURN(process_, cellar::Spawn(spawn));
  TraceStartup("template spawned");
  control_ = std::move(control.first);
  log_ = std::move(log.read);
  CELLAR_RETURN_IF_ERROR(SetNonBlocking(control_.get(), true));
  if (absl::Status sent = wire::SendControl(control_.get(), start); !sent.ok()) {
    return absl::IsUnavailable(sent) ? absl::UnavailableError(EndedEarly()) : sent;
  }
  CELLAR_RETURN_IF_ERROR(loop_.Watch(control_.get(), EPOLLIN, [this](uint32_t events) {
    OnControl();
    if ((events & EPOLLOUT) != 0 && !ended_) SendUnsent();
  }));
  CELLAR_RETURN_IF_ERROR(loop_.Watch(log_.get(), EPOLLIN, [this](uint32_t) { OnLog(); }));
  CELLAR_RETURN_IF_ERROR(
      loop_.Watch(process_.pidfd.get(), EPOLLIN, [this](uint32_t) { Collect(); }));
  start_timer_ = loop_.After(absl::Seconds(options_.start_limit_s), [this] {
    End("Python did not start within " + std::to_string(options_.start_limit_s) + " s");
  });
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Worker>> Template::Fork(const wire::Setup& setup,
                                                       WorkerListener& listener) {
  if (ended_) return absl::UnavailableError(failure_);
  CELLAR_ASSIGN_OR_RETURN(Birth birth, MakeBirth());
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Keeper> keeper, AddKeeper(loop_, birth));
  Continue();
  if (absl::Status sent = SendFork(birth); !sent.ok()) {
    OnControl();  // knows better why
    return ended_ ? absl::UnavailableError(failure_) : sent;
  }
  CELLAR_ASSIGN_OR_RETURN(
      std::unique_ptr<Worker> worker,
      Worker::Create(
          loop_, std::move(birth.ends), *std::move(birth.ring), std::move(keeper),
          [self = shared_from_this()] { return self->WhyNotStarted(); }, listener));
  worker->LimitBirth(absl::Seconds(options_.start_limit_s) + kBirthLimit);
  worker->Send(setup);
  return worker;
}

absl::Status Template::SendFork(Birth& birth) {
  if (unsent_.empty() && IsWritable(control_.get())) {
    return wire::SendControl(control_.get(), wire::Fork{}, birth.Fds(wire::kForkFdCount));
  }
  CELLAR_ASSIGN_OR_RETURN(std::vector<UniqueFd> fds, birth.TakeFds(wire::kForkFdCount));
  unsent_.push_back(std::move(fds));
  loop_.Rewatch(control_.get(), EPOLLIN | EPOLLOUT);
  return absl::OkStatus();
}

void Template::SendUnsent() {
  while (!unsent_.empty() && IsWritable(control_.get())) {
    std::vector<int> fds;
    for (const UniqueFd& fd : unsent_.front()) fds.push_back(fd.get());
    // One that cannot be sent ends with its keeper's socket.
    (void)wire::SendControl(control_.get(), wire::Fork{}, fds);
    unsent_.pop_front();
  }
  if (unsent_.empty()) loop_.Rewatch(control_.get(), EPOLLIN);
}

void Template::OnControl() {
  while (!ended_) {
    auto message = wire::ReceiveControl(control_.get());
    if (!message.ok()) return End(EndedEarly());
    if (!*message) return;
    if ((*message)->type == wire::MessageType::kReady) {
      auto ready = wire::Decode<wire::Ready>((*message)->payload);
      if (!ready || ready->version != wire::kProtocolVersion) {
        return End("the worker program " + options_.program + " is of another version");
      }
      ready_ = *std::move(ready);
      TraceStartup("template ready");
      loop_.Cancel(start_timer_);
    } else if ((*message)->type == wire::MessageType::kFailed) {
      auto failed = wire::Decode<wire::Failed>((*message)->payload);
      return End(failed ? failed->reason : "the worker program is of another version");
    }
  }
}

void Template::OnLog() {
  if (ReadLog() == 0) loop_.Unwatch(log_.get());
}

// Bytes read; 0 at the end, and when there are none.
size_t Template::ReadLog() {
  std::array<char, kLogTail> buffer;
  const ssize_t size = read(log_.get(), buffer.data(), buffer.size());
  if (size <= 0) return 0;
  log_tail_.append(buffer.data(), static_cast<size_t>(size));
  if (log_tail_.size() > kLogTail) log_tail_.erase(0, log_tail_.size() - kLogTail);
  return static_cast<size_t>(size);
}

void Template::End(std::string reason) {
  if (ended_) return;
  ended_ = true;
  // No more than there is now: what it has started may go on writing.
  for (size_t unread = UnreadBytes(log_.get()); unread > 0;) {
    const size_t size = ReadLog();
    if (size == 0) break;
    unread -= std::min(unread, size);
  }
  failure_ = std::move(reason);
  if (std::string log = Trimmed(log_tail_); !log.empty()) failure_ += "\n" + log;
  loop_.Cancel(start_timer_);
  loop_.Unwatch(control_.get());
  loop_.Unwatch(log_.get());
  unsent_.clear();
  SignalPidfd(process_.pidfd.get(), SIGKILL);
}

void Template::Leave() {
  if (ended_) return;
  ended_ = true;
  failure_ = EndedEarly();
  loop_.Cancel(start_timer_);
  loop_.Unwatch(control_.get());
  loop_.Unwatch(log_.get());
  Dismiss();
}

// The end of its socket makes it leave in order: it reaps its keepers, which would otherwise stay
// as zombies where nobody waits for orphans.
void Template::Dismiss() {
  control_.reset();
  Continue();
}

void Template::Continue() {
  if (process_.pidfd) SignalPidfd(process_.pidfd.get(), SIGCONT);
}

// So that it does not stay as a zombie until somebody wants a new template.
void Template::Collect() {
  OnControl();  // its last message may not have been read yet
  End(EndedEarly());
  loop_.Unwatch(process_.pidfd.get());
  if (!CollectProcess(process_.pidfd.get())) {
    collect_timer_ = loop_.After(kCollectAgain, [this] { Collect(); });
    return;
  }
  process_.pidfd.reset();
}

std::string Template::EndedEarly() const {
  return "the worker program " + options_.program +
         (ready_ ? " ended" : " ended before it was ready");
}

absl::Status Template::WhyNotStarted() {
  OnControl();  // its last message may not have been read yet
  return absl::UnavailableError(ended_ ? failure_ : "its keeper ended before it was ready");
}

}  // namespace cellar::host
