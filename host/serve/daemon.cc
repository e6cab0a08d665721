#include "host/serve/daemon.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/base/fds.h"

namespace cellar::host {
namespace {

// A daemon that ends has the lock for a moment longer than its socket.
constexpr absl::Duration kLockWait = absl::Seconds(10);
constexpr int kBacklog = 512;
constexpr size_t kMaxClients = 1000;
// Between looks at whether it is still wanted; a daemon that follows waits longer for the lock.
constexpr absl::Duration kMaxCheckPause = absl::Seconds(5);
constexpr absl::Duration kAcceptPause = absl::Milliseconds(100);
// So long the result of a call in the background waits for somebody to ask for it.
constexpr absl::Duration kResultPatience = absl::Hours(24);

absl::StatusOr<ucred> PeerOf(int socket) {
  ucred peer;
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return ErrnoStatus(errno, "asking who connects");
  }
  return peer;
}

}  // namespace

Daemon::Daemon(EventLoop& loop, SessionRegistry& registry, CallService& service,
               ClientBridge& bridge, const RuntimeDirectory& directory, LogFile& log,
               DaemonOptions options)
    : loop_(loop),
      registry_(registry),
      service_(service),
      directory_(directory),
      log_(log),
      options_(std::move(options)),
      journal_(directory),
      server_(loop, registry, service, bridge,
              {.offer = options_.offer,
               .relative_cwd = false,
               .on_left = [this](const absl::Status& why) { OnLeft(why); },
               .on_shutdown = [this] { End("asked to"); },
               .on_closed = [this](const std::string& session) { journal_.Remove(session); }}) {
  registry_.Add(journal_);
}

Daemon::~Daemon() {
  registry_.Remove(journal_);
  if (socket_) loop_.Unwatch(socket_.get());
  loop_.Cancel(idle_timer_);
  loop_.Cancel(accept_timer_);
}

absl::Status Daemon::Listen() {
  absl::StatusOr<UniqueFd> lock = LockFile(directory_, kDaemonLock, kLockWait);
  if (absl::IsDeadlineExceeded(lock.status())) {
    return absl::AlreadyExistsError("a daemon is running");
  }
  if (!lock.ok()) return lock.status();
  lock_ = *std::move(lock);
  const std::string pid = absl::StrCat(getpid(), "\n");
  if (ftruncate(lock_.get(), 0) != 0 || !WriteAll(lock_.get(), pid)) {
    return ErrnoStatus(errno, "writing " + directory_.path + "/" + kDaemonLock);
  }
  CELLAR_RETURN_IF_ERROR(Bind());
  for (const std::string& session : journal_.Load()) {
    registry_.ExpectState(session, "the daemon that had the session has ended");
  }
  CELLAR_RETURN_IF_ERROR(loop_.Watch(socket_.get(), EPOLLIN, [this](uint32_t) { Accept(); }));
  last_busy_ = MonotonicNow();
  CheckIdle();
  log_.Write(absl::StrCat("started, version ", CELLAR_VERSION, ", pid ", getpid()));
  return absl::OkStatus();
}

absl::Status Daemon::Bind() {
  UniqueFd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return ErrnoStatus(errno, "making a socket");
  sockaddr_un address = directory_.AddressOf(kDaemonSocket);
  // Whoever has the lock may: what is there belongs to a daemon that is dead.
  unlinkat(directory_.fd.get(), kDaemonSocket, 0);
  if (bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      fchmodat(directory_.fd.get(), kDaemonSocket, 0600, 0) != 0 ||
      listen(made.get(), kBacklog) != 0) {
    return ErrnoStatus(errno, "listening on " + directory_.path + "/" + kDaemonSocket);
  }
  if (fstatat(directory_.fd.get(), kDaemonSocket, &bound_, AT_SYMLINK_NOFOLLOW) != 0) {
    return ErrnoStatus(errno, "looking at " + directory_.path + "/" + kDaemonSocket);
  }
  CELLAR_ASSIGN_OR_RETURN(socket_, MoveHigh(std::move(made)));
  return absl::OkStatus();
}

void Daemon::Accept() {
  UniqueFd client(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS) return;
    // It stays where it is; looking again at once would only keep the processor busy.
    loop_.Rewatch(socket_.get(), 0);
    accept_timer_ = loop_.After(kAcceptPause, [this] { loop_.Rewatch(socket_.get(), EPOLLIN); });
    return;
  }
  const absl::StatusOr<ucred> peer = PeerOf(client.get());
  if (!peer.ok() || peer->uid != geteuid()) {
    log_.Write(absl::StrCat("refused a client of user ", peer.ok() ? peer->uid : -1));
    return;
  }
  if (server_.clients() >= kMaxClients) return log_.Write("refused a client: there are too many");
  absl::StatusOr<UniqueFd> in = MoveHigh(std::move(client));
  if (!in.ok()) return;
  absl::StatusOr<UniqueFd> out = MoveHigh(UniqueFd(dup(in->get())));
  if (!out.ok()) return;
  server_.Serve(*std::move(in), *std::move(out));
}

void Daemon::OnLeft(const absl::Status& why) {
  if (!why.ok()) log_.Write(absl::StrCat("a client was given up: ", why.message()));
  last_busy_ = MonotonicNow();
}

void Daemon::CheckIdle() {
  if (server_.clients() > 0 || registry_.size() > 0 || service_.HasUnaskedResult(kResultPatience)) {
    last_busy_ = MonotonicNow();
  }
  // What nobody can ask for any more is not kept, but calls in the background may run to their end.
  if (server_.clients() == 0 && !registry_.busy() && !CanBeFound())
    return End("its socket is gone");
  if (MonotonicNow() - last_busy_ >= options_.idle_exit) return End("nothing to do");
  const absl::Duration wait = std::min(options_.idle_exit / 4, kMaxCheckPause);
  idle_timer_ = loop_.After(wait, [this] { CheckIdle(); });
}

// By the name that clients look for. Another daemon may have it, when somebody has emptied the
// directory.
bool Daemon::CanBeFound() const {
  const std::string path = absl::StrCat(directory_.path, "/", kDaemonSocket);
  struct stat found;
  return lstat(path.c_str(), &found) == 0 && found.st_dev == bound_.st_dev &&
         found.st_ino == bound_.st_ino;
}

void Daemon::End(std::string_view reason) {
  if (std::exchange(ending_, true)) return;
  log_.Write(absl::StrCat("ends: ", std::string(reason)));
  // From here on clients start another, which waits for the lock.
  if (CanBeFound()) unlinkat(directory_.fd.get(), kDaemonSocket, 0);
  options_.on_end();
}

}  // namespace cellar::host
