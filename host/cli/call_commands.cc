#include "host/cli/call_commands.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "host/cli/ask_daemon.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

struct CallOptions {
  std::string call;
  std::optional<double> limit;
  bool json = false;
};

int Show(ordered_json request, bool json) {
  absl::StatusOr<ordered_json> done = AskDaemon(std::move(request));
  return done.ok() ? ShowResult(*done, json) : ComplainOf(done.status());
}

int Wait(const CallOptions& options) {
  ordered_json request = {{"type", "wait"}, {"call", options.call}};
  if (options.limit) request["limit"] = *options.limit;
  return Show(std::move(request), options.json);
}

int Tail(const CallOptions& options) {
  return Show({{"type", "tail"}, {"call", options.call}}, options.json);
}

// What became of it is for `wait` to say.
int Cancel(const CallOptions& options) {
  absl::StatusOr<ordered_json> done = AskDaemon({{"type", "cancel"}, {"call", options.call}});
  if (!done.ok()) return ComplainOf(done.status());
  return ComplainIfRefused(*done).value_or(kExitFine);
}

void AddJsonFlag(CLI::App& command, CallOptions& options) {
  command.add_flag("--json", options.json, "Print the structured result instead of text");
}

}  // namespace

void AddCallCommands(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<CallOptions>();
  const auto add = [&](const char* name, const char* description, int (*run)(const CallOptions&)) {
    CLI::App* command = app.add_subcommand(name, description);
    command->add_option("call", options->call, "The handle that cellar eval --detach printed")
        ->required()
        ->option_text("CALL");
    command->footer(
        "Exit code: 0 fine, also when the call still runs, 1 a cell failed, 2 usage or a refused\n"
        "request (no such call), 3 the daemon did not answer.");
    command->callback([options, run, exit_code] { *exit_code = run(*options); });
    return command;
  };
  CLI::App* wait =
      add("wait", "Wait for a call of cellar eval --detach to end, and take its result", Wait);
  AddJsonFlag(*wait, *options);
  wait->add_option("--limit", options->limit,
                   "Seconds to wait at most; then show what there is so far, as cellar tail does")
      ->check(CLI::Range(0.0, 86400.0))
      ->option_text("SECONDS");
  AddJsonFlag(*add("tail", "Show what a call of cellar eval --detach has done", Tail), *options);
  add("cancel", "End a call of cellar eval --detach, whether it runs or waits", Cancel);
}

}  // namespace cellar::host
