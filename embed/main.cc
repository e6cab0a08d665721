#include "embed/main.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "embed/keeper.h"
#include "embed/snapshot.h"
#include "embed/template.h"
#include "host/base/fds.h"
#include "host/wire/control.h"

namespace cellar::embed {
namespace {

constexpr char kStartFdOption[] = "--start-fd=";
constexpr char kKeeperOption[] = "--keep=";

// The number behind an option, or nothing when the argument is another one.
std::optional<int> NumberOf(const char* option, int argc, char** argv) {
  const size_t size = std::strlen(option);
  if (argc != 2 || std::strncmp(argv[1], option, size) != 0) return std::nullopt;
  return std::atoi(argv[1] + size);
}

// A keeper that was started from inside a worker has that one's signals.
void ResetSignals() {
  for (int signal = 1; signal < SIGRTMAX; ++signal) std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// The start message that a former self left behind.
std::optional<wire::Start> ReadStart(int fd) {
  std::string payload(wire::kMaxControlMessage, '\0');
  ssize_t size = pread(fd, payload.data(), payload.size(), 0);
  close(fd);
  if (size < 0) return std::nullopt;
  return wire::Decode<wire::Start>(std::string_view(payload).substr(0, static_cast<size_t>(size)));
}

std::optional<wire::Start> ReceiveStart(int control) {
  auto message = wire::ReceiveControl(control);
  if (!message.ok() || !*message || (*message)->type != wire::MessageType::kStart)
    return std::nullopt;
  return wire::Decode<wire::Start>((*message)->payload);
}

// The loader has read it; what cells start must not inherit it.
void RestoreLibraryPath(const std::string& added) {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  if (added.empty() || path == nullptr) return;
  std::string_view rest = path;
  if (!rest.starts_with(added)) return;
  rest.remove_prefix(added.size());
  if (rest.empty()) {
    unsetenv("LD_LIBRARY_PATH");
  } else {
    setenv("LD_LIBRARY_PATH", std::string(rest.substr(1)).c_str(), 1);
  }
}

}  // namespace

std::string KeeperOption(pid_t worker) { return kKeeperOption + std::to_string(worker); }

void RestartWithout(const std::string& preload, const wire::Start& start, int control,
                    int host_alive) {
  wire::Start rest = start;
  std::erase(rest.preload, preload);
  rest.warnings.push_back("preload " + preload +
                          ": starts a thread when imported, so it cannot be preloaded");
  std::string payload = wire::Encode(rest);
  // Not one of the numbers that are filled below.
  int memory = fcntl(memfd_create("cellar-start", MFD_CLOEXEC), F_DUPFD, wire::kHostAliveFd + 1);
  if (memory < 0 || !WriteAll(memory, payload)) _exit(1);
  if (!start.library_directory.empty()) {
    const char* path = std::getenv("LD_LIBRARY_PATH");
    std::string extended = start.library_directory;
    if (path != nullptr) extended += std::string(":") + path;
    setenv("LD_LIBRARY_PATH", extended.c_str(), 1);
  }
  dup2(control, wire::kControlFd);
  dup2(host_alive, wire::kHostAliveFd);
  std::string option = kStartFdOption + std::to_string(memory);
  char* argv[] = {const_cast<char*>("cellar-worker"), option.data(), nullptr};
  execv("/proc/self/exe", argv);
  _exit(1);
}

}  // namespace cellar::embed

int main(int argc, char** argv) {
  using namespace cellar;
  // Started by a person rather than by a host: there is no socket to speak on.
  if (fcntl(wire::kControlFd, F_GETFD) < 0 || fcntl(wire::kHostAliveFd, F_GETFD) < 0) {
    std::fprintf(stderr, "%s is started by cellar and does nothing by itself; try: cellar --help\n",
                 argv[0]);
    return 2;
  }
  absl::StatusOr<UniqueFd> control = MoveHigh(UniqueFd(wire::kControlFd));
  absl::StatusOr<UniqueFd> host_alive = MoveHigh(UniqueFd(wire::kHostAliveFd));
  if (!control.ok() || !host_alive.ok()) return 1;

  if (std::optional<int> worker = embed::NumberOf(embed::kKeeperOption, argc, argv)) {
    embed::ResetSignals();
    embed::LeaveFiles();
    // Its worker is a copy: the host sends it no cell before it is ready.
    embed::RunKeeper(*worker, *std::move(control), host_alive->get(), [] {});
  }
  std::optional<int> again = embed::NumberOf(embed::kStartFdOption, argc, argv);
  std::optional<wire::Start> start =
      again ? embed::ReadStart(*again) : embed::ReceiveStart(control->get());
  if (!start || start->version != wire::kProtocolVersion) {
    wire::Failed failed = {.reason = "the worker program speaks version " +
                                     std::to_string(wire::kProtocolVersion) + " of the protocol"};
    (void)wire::SendControl(control->get(), failed);
    return 1;
  }
  embed::RestoreLibraryPath(start->library_directory);
  embed::SetLibraryDirectory(start->library_directory);
  embed::RunTemplate(*start, *std::move(control), *std::move(host_alive));
}
