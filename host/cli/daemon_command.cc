#include "host/cli/daemon_command.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "host/base/fds.h"
#include "host/base/process.h"
#include "host/console/call_desk.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/serve/daemon.h"
#include "host/serve/dial.h"

namespace cellar::host {
namespace {

struct RunOptions {
  int ready_fd = -1;
  double idle_exit = absl::ToDoubleSeconds(kDaemonIdleExit);
};

// The sessions of a user, and the daemon that serves them.
class DaemonHost {
 public:
  DaemonHost(std::unique_ptr<Console> console, const LaunchQuery& query,
             const RuntimeDirectory& directory, LogFile& log, absl::Duration idle_exit)
      : console_(std::move(console)),
        desk_(*console_, query),
        daemon_(console_->loop(), desk_.registry(), desk_.service(), bridge_, directory, log,
                {.idle_exit = idle_exit,
                 .offer = {.mode = console_->launch().settings.tool_mode},
                 .on_end = [this] { desk_.Finish(); }}) {}

  absl::Status Listen() {
    CELLAR_RETURN_IF_ERROR(console_->WatchSignals([this] { desk_.Finish(); }));
    return daemon_.Listen();
  }

  int Run() { return desk_.Run(); }

 private:
  std::unique_ptr<Console> console_;
  ClientBridge bridge_;
  CallDesk desk_;
  Daemon daemon_;
};

// Says on `ready`, and closes it, when clients can connect.
absl::StatusOr<int> ServeUntilTheEnd(const RunOptions& options, UniqueFd& ready) {
  LaunchQuery query = {.env = CurrentEnvironment(), .cwd = "/"};
  CELLAR_ASSIGN_OR_RETURN(RuntimeDirectory directory, OpenRuntimeDirectory(query.env));
  LogFile log(directory);
  // Started by a command, it keeps nothing of it: not its directory, not its terminal.
  if (chdir("/") != 0) return ErrnoStatus(errno, "leaving the directory");
  if (ready) CELLAR_RETURN_IF_ERROR(log.Open());
  CELLAR_ASSIGN_OR_RETURN(Launch launch, PrepareLaunch(query));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Console> console, Console::Create(std::move(launch)));
  DaemonHost host(std::move(console), query, directory, log, absl::Seconds(options.idle_exit));
  CELLAR_RETURN_IF_ERROR(host.Listen());
  if (ready) WriteAll(ready.get(), "ready\n");
  ready.reset();
  return host.Run();
}

int RunDaemon(const RunOptions& options) {
  UniqueFd ready;
  if (options.ready_fd > STDERR_FILENO) {
    absl::StatusOr<UniqueFd> moved = MoveHigh(UniqueFd(options.ready_fd));
    if (moved.ok()) ready = *std::move(moved);
  }
  absl::StatusOr<int> exit_code = ServeUntilTheEnd(options, ready);
  if (exit_code.ok()) return *exit_code;
  if (ready) WriteAll(ready.get(), std::string(exit_code.status().message()));
  return ComplainOf(exit_code.status());
}

absl::Status PrintStatus() {
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Client> client, DialDaemon(CurrentEnvironment()));
  CELLAR_ASSIGN_OR_RETURN(nlohmann::ordered_json done,
                          client->Ask({{"id", "1"}, {"type", "sessions"}}));
  const auto sessions = done.find("sessions");
  const size_t count = sessions == done.end() ? 0 : sessions->size();
  std::printf("running, version %s, pid %lld, %zu session%s\n", client->version().c_str(),
              static_cast<long long>(client->pid()), count, count == 1 ? "" : "s");
  return absl::OkStatus();
}

int ShowStatus() {
  const absl::Status status = PrintStatus();
  if (status.ok()) return kExitFine;
  std::printf("%s\n", std::string(status.message()).c_str());
  return absl::IsNotFound(status) ? kExitFailed : kExitCannotRun;
}

int StopDaemon() {
  const Environment env = CurrentEnvironment();
  absl::StatusOr<std::unique_ptr<Client>> client = DialDaemon(env);
  if (absl::IsNotFound(client.status())) {
    std::printf("%s\n", std::string(client.status().message()).c_str());
    return kExitFine;
  }
  const absl::StatusOr<UniqueFd> process = FindDaemon(env);
  absl::Status status = client.status();
  if (status.ok()) status = (*client)->Ask({{"id", "1"}, {"type", "shutdown"}}).status();
  if (absl::IsDeadlineExceeded(status) && process.ok()) {
    SignalPidfd(process->get(), SIGKILL);
    status = absl::OkStatus();
  }
  if (!status.ok() && !absl::IsUnavailable(status)) return ComplainOf(status);
  // Until it is gone, and all its sessions with it.
  pollfd gone = {.fd = process.ok() ? process->get() : -1, .events = POLLIN};
  while (process.ok() && poll(&gone, 1, -1) < 0 && errno == EINTR) continue;
  return kExitFine;
}

}  // namespace

void AddDaemonCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand(
      "daemon", "The program that keeps the sessions of cellar eval -s; it starts by itself");
  command->require_subcommand(1);
  command->add_subcommand("status", "Say whether it runs; exit code 1 when it does not")
      ->callback([exit_code] { *exit_code = ShowStatus(); });
  command->add_subcommand("stop", "End it, and all its sessions with it")->callback([exit_code] {
    *exit_code = StopDaemon();
  });
  auto options = std::make_shared<RunOptions>();
  CLI::App* run = command->add_subcommand("run", "Be the daemon, in the foreground");
  run->add_option("--idle-exit", options->idle_exit,
                  "End after so many seconds without sessions and clients")
      ->capture_default_str()
      ->check(CLI::Range(0.01, 86400.0))
      ->option_text("SECONDS");
  run->add_option("--ready-fd", options->ready_fd)->group("");  // for those who start it
  run->callback([options, exit_code] { *exit_code = RunDaemon(*options); });
  command->footer(
      "One daemon serves all commands of a user, on a socket under $XDG_RUNTIME_DIR/cellar, or\n"
      "/tmp/cellar-UID; its log is there too. It ends after ten minutes without sessions and "
      "clients.");
}

}  // namespace cellar::host
