// The program `cellar`: argv to commands. What a command does is in its own file.
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <system_error>

#include "CLI/CLI.hpp"
#include "host/base/fds.h"
#include "host/cli/call_commands.h"
#include "host/cli/command_line.h"
#include "host/cli/config_command.h"
#include "host/cli/daemon_command.h"
#include "host/cli/doctor_command.h"
#include "host/cli/eval_command.h"
#include "host/cli/notebook_command.h"
#include "host/cli/repl_command.h"
#include "host/cli/serve_command.h"
#include "host/cli/session_commands.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/console/terminal.h"
#include "host/console/text_width.h"

namespace {

constexpr int kMappedBlockBytes = 128 * 1024;

}  // namespace

int main(int argc, char** argv) {
  using namespace cellar::host;
  cellar::FillStandardDescriptors();
  // Cells run as the same user: without this they could read the host's environment and take its
  // descriptors.
  prctl(PR_SET_DUMPABLE, 0);
  signal(SIGPIPE, SIG_IGN);
  // The data of a large display goes back to the system as soon as it is freed. Left alone, glibc
  // raises the limit with the first such block and then keeps what comes after (mallopt(3)).
  mallopt(M_MMAP_THRESHOLD, kMappedBlockBytes);
  cellar::RaiseOpenFileLimit();
  UseUtf8();

  CLI::App app("cellar runs Python cells with lasting state, for agents, people and tests.",
               "cellar");
  app.set_version_flag("--version", std::string("cellar ") + CELLAR_VERSION);
  int exit_code = kExitFine;
  AddEvalCommand(app, &exit_code);
  AddReplCommand(app, &exit_code);
  AddSessionCommands(app, &exit_code);
  AddCallCommands(app, &exit_code);
  AddDaemonCommand(app, &exit_code);
  AddServeCommand(app, &exit_code);
  AddNotebookCommand(app, &exit_code);
  AddConfigCommand(app, &exit_code);
  AddDoctorCommand(app, &exit_code);
  // Last, for commands inherit what is there when they are added.
  app.footer(
      "Example: cellar eval 'import math' 'math.pi'\n"
      "With a session that lasts: cellar eval -s work 'x = 6', then cellar eval -s work 'x * 7'");
  app.failure_message(UsageMessage);
  try {
    if (argc == 1) {
      bool at_terminal = IsTerminal(STDIN_FILENO) && IsTerminal(STDOUT_FILENO);
      app.parse(at_terminal ? "repl" : "--help");
    } else {
      std::vector<std::string> args(argv, argv + argc);
      KeepListsWhole(app, args);
      std::vector<const char*> texts;
      for (const std::string& arg : args) texts.push_back(arg.c_str());
      app.parse(argc, texts.data());
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? ExitCodeAfterOutput(kExitFine) : kExitUsage;
  } catch (const std::system_error& error) {  // there is no room for a thread
    return ComplainOf(
        absl::ResourceExhaustedError(std::string("starting a thread: ") + error.what()));
  }
  return ExitCodeAfterOutput(exit_code);
}
