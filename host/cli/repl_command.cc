#include "host/cli/repl_command.h"

#include <memory>
#include <string>
#include <utility>

#include "host/cli/command_line.h"
#include "host/cli/opening.h"
#include "host/console/complain.h"
#include "host/console/console.h"
#include "host/console/exit_codes.h"
#include "host/console/terminal.h"
#include "host/repl/local_session.h"
#include "host/repl/prompt.h"
#include "host/repl/shared_session.h"

namespace cellar::host {
namespace {

struct ReplOptions {
  std::string session;  // of the daemon; empty: one of this command's own
  std::string interpreter;
};

absl::StatusOr<int> RunOwnSession(const ReplOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(Launch launch, PrepareLaunch({.env = CurrentEnvironment(),
                                                        .interpreter = options.interpreter}));
  InputDesk desk;
  launch.session.bridge = &desk;
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Console> console, Console::Create(std::move(launch)));
  LocalSession session(*console);
  return Prompt(console->foreground(), session, desk, console->artifacts()).Run();
}

absl::StatusOr<int> RunSharedSession(const ReplOptions& options) {
  const Environment env = CurrentEnvironment();
  CELLAR_ASSIGN_OR_RETURN(SessionOpening opening, OpeningHere(env, options.interpreter));
  CELLAR_ASSIGN_OR_RETURN(std::unique_ptr<Foreground> foreground, Foreground::Create());
  InputDesk desk;
  SharedSession session(foreground->loop(), desk,
                        {.env = env, .name = options.session, .opening = std::move(opening)});
  const ArtifactStore images(ArtifactsDirectory(env));
  return Prompt(*foreground, session, desk, images).Run();
}

int RunRepl(const ReplOptions& options) {
  if (!IsTerminal(STDIN_FILENO)) {
    return ComplainOf(absl::InvalidArgumentError(
        "repl needs a terminal; to run a script: cellar eval '%run FILE'"));
  }
  absl::StatusOr<int> exit_code =
      options.session.empty() ? RunOwnSession(options) : RunSharedSession(options);
  return exit_code.ok() ? *exit_code : ComplainOf(exit_code.status());
}

}  // namespace

void AddReplCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<ReplOptions>();
  CLI::App* command = app.add_subcommand(
      "repl", "A prompt for a person; what cellar does without arguments on a terminal");
  AddSessionOption(*command, options->session,
                   "Work on the session of this name, together with whoever else does (see: cellar "
                   "eval -s, cellar sessions)");
  command
      ->add_option("--interpreter", options->interpreter,
                   "Python environment to adopt (see: cellar doctor); with -s, if the session is "
                   "not open yet")
      ->option_text("PATH");
  command->footer(
      "Enter runs a cell when it is whole, Ctrl-C interrupts it, Ctrl-D leaves; :help lists the\n"
      "rest. With -s the session goes on when one leaves, what others run on it is shown, and\n"
      "Ctrl-C asks before it interrupts a cell of theirs. The history is kept in the user's state\n"
      "directory. NO_COLOR and TERM=dumb are heeded.");
  command->callback([options, exit_code] { *exit_code = RunRepl(*options); });
}

}  // namespace cellar::host
