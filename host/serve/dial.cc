#include "host/serve/dial.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/fds.h"
#include "host/base/process.h"
#include "host/serve/daemon.h"
#include "host/serve/frame_fields.h"
#include "host/serve/runtime_directory.h"

namespace cellar::host {
namespace {

// A daemon may need as long as its interpreter does to be found.
constexpr absl::Duration kStartLimit = absl::Seconds(35);
// One that runs says hello as soon as it turns to its socket.
constexpr absl::Duration kHelloLimit = absl::Seconds(10);
// How often a daemon may end between its start, or the connection, and its hello.
constexpr int kAttempts = 5;
constexpr int kReadyFd = 3;

struct Connected {
  UniqueFd socket;
  pid_t daemon;
};

absl::StatusOr<Connected> Connect(const RuntimeDirectory& directory) {
  UniqueFd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made) return ErrnoStatus(errno, "making a socket");
  sockaddr_un address = directory.AddressOf(kDaemonSocket);
  if (connect(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno == ENOENT || errno == ECONNREFUSED) {
      return absl::NotFoundError("no daemon is running");
    }
    return ErrnoStatus(errno, "connecting to the daemon");
  }
  ucred peer;
  socklen_t size = sizeof(peer);
  if (getsockopt(made.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid()) {
    return absl::PermissionDeniedError("the daemon's socket is another user's");
  }
  CELLAR_ASSIGN_OR_RETURN(UniqueFd socket, MoveHigh(std::move(made)));
  return Connected{std::move(socket), peer.pid};
}

absl::StatusOr<std::unique_ptr<Client>> Dial(const RuntimeDirectory& directory) {
  CELLAR_ASSIGN_OR_RETURN(Connected connected, Connect(directory));
  absl::StatusOr<std::unique_ptr<Client>> client =
      Client::Create(std::move(connected.socket), kHelloLimit);
  if (!absl::IsDeadlineExceeded(client.status())) return client;
  return absl::DeadlineExceededError(
      absl::StrCat("the daemon (pid ", connected.daemon,
                   ") does not answer; to end it, and its sessions with it: cellar daemon stop"));
}

absl::StatusOr<std::string> ThisProgram() {
  std::string path(PATH_MAX, '\0');
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  if (size < 0) return ErrnoStatus(errno, "finding this program");
  path.resize(static_cast<size_t>(size));
  return path;
}

// The daemon says one line when it listens, or why it does not.
absl::Status AwaitReady(int fd) {
  pollfd ready = {.fd = fd, .events = POLLIN};
  if (poll(&ready, 1, static_cast<int>(absl::ToInt64Milliseconds(kStartLimit))) <= 0) {
    return absl::DeadlineExceededError("the daemon did not start in time");
  }
  std::string said(PIPE_BUF, '\0');
  said.resize(static_cast<size_t>(std::max<ssize_t>(read(fd, said.data(), said.size()), 0)));
  if (said == "ready\n") return absl::OkStatus();
  return absl::UnavailableError(said.empty() ? "the daemon ended when it started" : said);
}

// Starts a daemon in a session of its own, without anything of this process's but its environment.
// The interpreter that was activated here is for sessions opened from here, not for all.
absl::Status StartDaemon(const Environment& env) {
  CELLAR_ASSIGN_OR_RETURN(std::string program, ThisProgram());
  UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return ErrnoStatus(errno, "opening /dev/null");
  CELLAR_ASSIGN_OR_RETURN(null, MoveHigh(std::move(null)));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return ErrnoStatus(errno, "making a pipe");
  UniqueFd ready(ends[0]);
  CELLAR_ASSIGN_OR_RETURN(UniqueFd write_end, MoveHigh(UniqueFd(ends[1])));
  std::vector<std::string> environment;
  for (const auto& [name, value] : env) {
    if (name != "VIRTUAL_ENV" && name != "CONDA_PREFIX") environment.push_back(name + "=" + value);
  }
  CELLAR_RETURN_IF_ERROR(
      Spawn(
          {.program = std::move(program),
           .args = {"daemon", "run", "--ready-fd", std::to_string(kReadyFd)},
           .environment = std::move(environment),
           .fds = {{null.get(), 0}, {null.get(), 1}, {null.get(), 2}, {write_end.get(), kReadyFd}}})
          .status());
  write_end.reset();
  return AwaitReady(ready.get());
}

// True when the daemon has made room for one of this program's version.
bool HandsOver(Client& client) {
  if (client.version() == CELLAR_VERSION) return false;
  absl::StatusOr<nlohmann::ordered_json> done =
      client.Ask({{"id", "handover"}, {"type", "handover"}});
  if (!done.ok()) return true;  // it has ended
  return TextIn(*done, "status") == "ok";
}

}  // namespace

std::string ThisClient(const std::string& command) {
  constexpr std::string_view kDevices = "/dev/";
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const char* terminal = ttyname(fd);
    if (terminal == nullptr) continue;
    std::string_view name = terminal;
    if (name.starts_with(kDevices)) name.remove_prefix(kDevices.size());
    return absl::StrCat(command, " on ", std::string(name));
  }
  return absl::StrCat(command, ", process ", getpid());
}

absl::StatusOr<std::unique_ptr<Client>> DialDaemon(const Environment& env) {
  CELLAR_ASSIGN_OR_RETURN(RuntimeDirectory directory, OpenRuntimeDirectory(env));
  return Dial(directory);
}

absl::StatusOr<UniqueFd> FindDaemon(const Environment& env) {
  CELLAR_ASSIGN_OR_RETURN(RuntimeDirectory directory, OpenRuntimeDirectory(env));
  CELLAR_ASSIGN_OR_RETURN(Connected connected, Connect(directory));
  return OpenPidfd(connected.daemon);
}

absl::StatusOr<std::unique_ptr<Client>> DialOrStartDaemon(const Environment& env) {
  CELLAR_ASSIGN_OR_RETURN(RuntimeDirectory directory, OpenRuntimeDirectory(env));
  absl::StatusOr<std::unique_ptr<Client>> client = Dial(directory);
  for (int i = 0; i < kAttempts; ++i) {
    if (client.ok() && !HandsOver(**client)) break;
    if (!client.ok() && !absl::IsNotFound(client.status()) &&
        !absl::IsUnavailable(client.status())) {
      break;
    }
    CELLAR_ASSIGN_OR_RETURN(UniqueFd lock, LockFile(directory, kStartLock, kStartLimit));
    client = Dial(directory);  // somebody else may have started it meanwhile
    if (client.ok() && (*client)->version() == CELLAR_VERSION) break;
    CELLAR_RETURN_IF_ERROR(StartDaemon(env));
    client = Dial(directory);
  }
  if (client.ok() && (*client)->protocol() != kLineProtocol) {
    return absl::UnavailableError(
        absl::StrCat("a daemon of version ", (*client)->version(),
                     " is running, and its sessions are open; end it with: cellar daemon stop"));
  }
  return client;
}

}  // namespace cellar::host
