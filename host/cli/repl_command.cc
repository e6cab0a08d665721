#include "host/cli/repl_command.h"

#include <memory>
#include <string>

#include "host/console/complain.h"
#include "host/console/console.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/repl/prompt.h"

namespace cellar::host {
namespace {

int RunRepl(const std::string& interpreter) {
  if (!IsTerminal(STDIN_FILENO)) {
    Complain(
        absl::InvalidArgumentError("repl needs a terminal; to run a script: cellar eval -f FILE"));
    return kExitUsage;
  }
  absl::StatusOr<Launch> launch =
      PrepareLaunch({.env = CurrentEnvironment(), .interpreter = interpreter});
  absl::Status status = launch.status();
  InputDesk desk;
  if (launch.ok()) {
    for (const std::string& warning : launch->interpreter.warnings) {
      Complain(absl::UnknownError(warning));
    }
    launch->session.bridge = &desk;
    absl::StatusOr<std::unique_ptr<Console>> console = Console::Create(*std::move(launch));
    status = console.status();
    if (console.ok()) return Prompt(**console, desk, "").Run();
  }
  Complain(status);
  return kExitCannotRun;
}

}  // namespace

void AddReplCommand(CLI::App& app, int* exit_code) {
  auto interpreter = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand(
      "repl", "A prompt for a person; what cellar does without arguments on a terminal");
  command
      ->add_option("--interpreter", *interpreter,
                   "Python environment to adopt (see: cellar doctor)")
      ->option_text("PATH");
  command->footer(
      "Enter runs a cell when it is whole, Ctrl-C interrupts it, Ctrl-D leaves; :help lists the\n"
      "rest. The history is kept in the user's state directory. NO_COLOR and TERM=dumb are "
      "heeded.");
  command->callback([interpreter, exit_code] { *exit_code = RunRepl(*interpreter); });
}

}  // namespace cellar::host
