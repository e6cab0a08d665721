#include "host/cli/command_line.h"

#include <cmath>
#include <vector>

#include "host/eval/call_fields.h"

namespace cellar::host {

CLI::Option* AddSessionOption(CLI::App& command, std::string& name, const std::string& help) {
  return command.add_option("-s,--session", name, help)
      ->check([](const std::string& given) -> std::string {
        if (given.empty()) return "the name is empty";
        const std::string problem = ProblemOfName(given);
        return problem.empty() ? "" : "the name " + problem;
      })
      ->option_text("NAME");
}

absl::Status CheckTimeout(double seconds) {
  if (std::isfinite(seconds)) return absl::OkStatus();
  return absl::InvalidArgumentError("--timeout: expected a number of seconds");
}

std::string UsageMessage(const CLI::App* app, const CLI::Error& error) {
  // The command that was given, and what it has no use for.
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  const std::vector<std::string> left = app->remaining();
  const bool takes_commands = !app->get_subcommands([](const CLI::App*) { return true; }).empty();
  std::string problem = error.what();
  // CLI11 names them from the last to the first.
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !left.empty()) {
    problem = absl::StrCat("The following argument", left.size() == 1 ? " was" : "s were",
                           " not expected: ", absl::StrJoin(left, " "));
  }
  if (takes_commands && !left.empty() && !left.front().starts_with('-')) {
    problem = absl::StrCat("there is no command ", left.front());
  }
  return absl::StrCat("cellar: ", problem, "\ncellar: run with --help for more information\n");
}

}  // namespace cellar::host
