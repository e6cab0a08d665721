#include "host/cli/serve_command.h"

#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/base/fds.h"
#include "host/console/call_desk.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/serve/server.h"
#include "host/session/preflight.h"

namespace cellar::host {
namespace {

// A descriptor of our own, in whose place nothing can be read or written by accident.
absl::StatusOr<UniqueFd> Take(int fd) {
  UniqueFd taken(dup(fd));
  if (!taken) return ErrnoStatus(errno, "taking over a standard stream");
  return MoveHigh(std::move(taken));
}

// One client, on standard input and output, and its sessions.
class StdioServer {
 public:
  StdioServer(std::unique_ptr<Console> console, const LaunchQuery& query, absl::Status unavailable)
      : console_(std::move(console)),
        desk_(*console_, query),
        unavailable_(std::move(unavailable)) {}

  int Run(bool check) {
    absl::Status status = console_->WatchSignals([this] {
      if (server_) server_->InterruptCalls();
    });
    if (!status.ok()) {
      return ComplainOf(status);
    }
    if (!unavailable_.ok()) {
      Serve(OfferWithout(unavailable_));
    } else if (!check) {
      Serve({.mode = console_->launch().settings.tool_mode});
    } else {
      preflight_.emplace(console_->loop(), console_->templates(), console_->storage(),
                         console_->launch(), [this](ToolOffer offer) { Serve(std::move(offer)); });
    }
    const int signalled = desk_.Run();
    return signalled != 0 ? signalled : exit_code_;
  }

 private:
  void Serve(ToolOffer offer) {
    absl::StatusOr<UniqueFd> in = Take(STDIN_FILENO);
    absl::StatusOr<UniqueFd> out = Take(STDOUT_FILENO);
    if (!in.ok() || !out.ok()) {
      exit_code_ = ComplainOf(in.ok() ? out.status() : in.status());
      return desk_.Finish();
    }
    server_.emplace(console_->loop(), desk_.registry(), desk_.service(), bridge_,
                    ServerOptions{.offer = std::move(offer),
                                  .unavailable = unavailable_,
                                  .on_left = [this](const absl::Status& why) { OnLeft(why); },
                                  .on_shutdown = [this] { desk_.Finish(); }});
    server_->Serve(*std::move(in), *std::move(out));
  }

  void OnLeft(const absl::Status& why) {
    if (!why.ok()) {
      exit_code_ = ComplainOf(why);
    }
    desk_.Finish();
  }

  std::unique_ptr<Console> console_;
  ClientBridge bridge_;
  CallDesk desk_;
  absl::Status unavailable_;
  std::optional<Preflight> preflight_;
  std::optional<Server> server_;
  int exit_code_ = kExitFine;
};

int RunServe(const std::string& cwd, const std::string& interpreter) {
  LaunchQuery query = {.env = CurrentEnvironment(), .cwd = cwd, .interpreter = interpreter};
  absl::StatusOr<Launch> launch = PrepareLaunch(query);
  const bool check = launch.ok() && WantsPreflight(*launch, query.env);
  const absl::Status unavailable = launch.status();
  absl::StatusOr<std::unique_ptr<Console>> console =
      Console::Create(launch.ok() ? *std::move(launch) : Launch());
  if (!console.ok()) return ComplainOf(console.status());
  return StdioServer(*std::move(console), query, unavailable).Run(check);
}

}  // namespace

void AddServeCommand(CLI::App& app, int* exit_code) {
  struct Options {
    std::string cwd;
    std::string interpreter;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "serve", "Run cells for a program: one JSON object a line on standard input and output");
  command->add_option("--cwd", options->cwd, "Directory of sessions that name none")
      ->option_text("DIR");
  command
      ->add_option("--interpreter", options->interpreter,
                   "Python environment to adopt (see: cellar doctor)")
      ->option_text("PATH");
  command->footer(
      "Requests and frames are described in docs/protocol.md. The simplest request:\n"
      "  {\"id\": \"1\", \"type\": \"eval\", \"cells\": [{\"code\": \"6 * 7\"}]}\n"
      "At the end of its input the program answers what is under way and ends; the exit request\n"
      "and SIGTERM end it at once. SIGINT interrupts the cells that run.");
  command->callback(
      [options, exit_code] { *exit_code = RunServe(options->cwd, options->interpreter); });
}

}  // namespace cellar::host
