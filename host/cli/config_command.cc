#include "host/cli/config_command.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "host/console/complain.h"
#include "host/console/exit_codes.h"
#include "host/console/table.h"
#include "host/eval/json_writer.h"
#include "host/output/printable.h"
#include "host/runtime/settings.h"

namespace cellar::host {
namespace {

struct ConfigOptions {
  std::string cwd;
  std::vector<std::string> settings;
  bool json = false;
};

void PrintText(const std::vector<ShownSetting>& settings) {
  std::vector<std::vector<std::string>> rows;
  for (const ShownSetting& setting : settings) {
    rows.push_back({setting.key, Printable(setting.value), Printable(setting.origin)});
    if (setting.of_host) rows.back().push_back("(of the host)");
  }
  PrintTable(rows);
}

void PrintJson(const std::vector<ShownSetting>& settings) {
  JsonWriter json(/*pretty=*/true);
  json.BeginObject();
  for (const ShownSetting& setting : settings) {
    json.Key(setting.key).BeginObject().Key("value");
    json.Json(setting.value);
    json.Key("origin").String(setting.origin);
    json.Key("of_host").Bool(setting.of_host).EndObject();
  }
  std::printf("%s\n", json.EndObject().Take().c_str());
}

int RunConfig(const ConfigOptions& options) {
  std::error_code error;
  const std::string cwd =
      std::filesystem::canonical(options.cwd.empty() ? "." : options.cwd, error).string();
  const std::string problem = options.cwd.empty()
                                  ? "the current directory has been deleted"
                                  : "directory " + options.cwd + ": " + error.message();
  const absl::StatusOr<Settings> settings =
      error ? absl::NotFoundError(problem)
            : LoadSettings(CurrentEnvironment(), cwd, options.settings);
  if (!settings.ok()) {
    Complain(settings.status());
    return kExitUsage;
  }
  options.json ? PrintJson(ShowSettings(*settings)) : PrintText(ShowSettings(*settings));
  return kExitFine;
}

}  // namespace

void AddConfigCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command =
      app.add_subcommand("config", "Show the settings in effect, and where each comes from");
  command->add_option("--cwd", options->cwd, "Directory of the project")->option_text("DIR");
  command->add_option("--set", options->settings, "A setting for this run")
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "From the weakest to the strongest: the defaults, ~/.config/cellar/config.json (or under\n"
      "XDG_CONFIG_HOME), .cellar/config.json of the directory, variables (CELLAR_MAX_SESSIONS=8,\n"
      "lists with commas; PI_PY for tool_mode), options. Entries of env_allow and env_deny\n"
      "are taken from all of these, and a directory's file cannot let secrets through to cells.\n"
      "What is marked \"of the host\" is for all its sessions: with -s the daemon has read it "
      "when\n"
      "it started, from the user's file and its own variables.");
  command->callback([options, exit_code] { *exit_code = RunConfig(*options); });
}

}  // namespace cellar::host
