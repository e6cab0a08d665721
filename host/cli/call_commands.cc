#include "host/cli/call_commands.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "host/cli/ask_daemon.h"
#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/eval/call_fields.h"
#include "host/serve/frame_fields.h"

namespace cellar::host {
namespace {

using nlohmann::ordered_json;

struct WaitOptions {
  std::string call;
  std::optional<double> limit;
  bool json = false;
};

struct TailOptions {
  std::string call;
  bool json = false;
};

int Show(ordered_json request, bool json) {
  absl::StatusOr<ordered_json> done = AskDaemon(std::move(request));
  return done.ok() ? ShowResult(*done, json) : ComplainOf(done.status());
}

int Wait(const WaitOptions& options) {
  ordered_json request = {{"type", "wait"}, {"call", options.call}};
  if (options.limit) request["limit"] = *options.limit;
  return Show(std::move(request), options.json);
}

int Tail(const TailOptions& options) {
  return Show({{"type", "tail"}, {"call", options.call}}, options.json);
}

// What became of it is for `wait` to say.
int Cancel(const std::string& call) {
  absl::StatusOr<ordered_json> done = AskDaemon({{"type", "cancel"}, {"call", call}});
  if (!done.ok()) return ComplainOf(done.status());
  const absl::Status refusal = RefusalIn(*done);
  return refusal.ok() ? kExitFine : ComplainOf(refusal);
}

// What all of them have.
void AddCall(CLI::App& command, std::string& call) {
  command.add_option("call", call, "The handle that cellar eval --detach printed")
      ->required()
      ->option_text("CALL");
  command.footer(
      "Exit code: 0 fine, also when the call still runs, 1 a cell failed, 2 usage or a refused\n"
      "request (no such call), 3 the daemon did not answer.");
}

void AddJsonFlag(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print the structured result instead of text");
}

void AddWait(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<WaitOptions>();
  CLI::App* command = app.add_subcommand(
      "wait", "Wait for a call of cellar eval --detach to end, and show its result");
  AddCall(*command, options->call);
  AddJsonFlag(*command, options->json);
  command
      ->add_option("--limit", options->limit,
                   "Seconds to wait at most; then show what there is so far, as cellar tail does")
      ->check([](const std::string& given) {
        double seconds = -1;
        const bool fits = CLI::detail::lexical_cast(given, seconds) && seconds >= 0 &&
                          seconds <= kMaxBackgroundAfter;
        return fits ? "" : absl::StrCat("expected seconds, between 0 and ", kMaxBackgroundAfter);
      })
      ->option_text("SECONDS");
  command->callback([options, exit_code] { *exit_code = Wait(*options); });
}

void AddTail(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<TailOptions>();
  CLI::App* command =
      app.add_subcommand("tail", "Show what a call of cellar eval --detach has done");
  AddCall(*command, options->call);
  AddJsonFlag(*command, options->json);
  command->callback([options, exit_code] { *exit_code = Tail(*options); });
}

void AddCancel(CLI::App& app, int* exit_code) {
  auto call = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("cancel", "End a call of cellar eval --detach, whether it runs or waits");
  AddCall(*command, *call);
  command->callback([call, exit_code] { *exit_code = Cancel(*call); });
}

}  // namespace

void AddCallCommands(CLI::App& app, int* exit_code) {
  AddWait(app, exit_code);
  AddTail(app, exit_code);
  AddCancel(app, exit_code);
}

}  // namespace cellar::host
