#include "host/cli/eval_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/atomic_file.h"
#include "host/base/utf8.h"
#include "host/cli/command_line.h"
#include "host/cli/own_eval.h"
#include "host/cli/refused_eval.h"
#include "host/cli/shared_eval.h"
#include "host/console/complain.h"
#include "host/console/console.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/eval/call.h"
#include "host/eval/call_fields.h"
#include "host/eval/call_parser.h"
#include "host/eval/describe.h"
#include "host/output/printable.h"
#include "host/session/preflight.h"

namespace cellar::host {
namespace {

struct EvalOptions {
  std::vector<std::string> cells;
  std::vector<std::string> files;
  std::string session;  // of the daemon; empty: one of this command's own
  bool detach = false;
  std::string request;  // a file, or "-"
  std::optional<double> timeout;
  std::string cwd;
  std::string interpreter;
  std::vector<std::string> environment;
  std::vector<std::string> titles;
  std::vector<std::string> settings;
  CallMode mode = CallMode::kSession;
  std::optional<Retry> retry;
  bool reset = false;
  bool describe = false;
  bool json = false;
};

absl::StatusOr<std::string> ReadSource(const std::string& path) {
  CELLAR_ASSIGN_OR_RETURN(std::string source,
                          path == "-" ? ReadToEnd(STDIN_FILENO, "standard input", kMaxRequestBytes)
                                      : ReadWholeFile(path, kMaxRequestBytes));
  if (source.starts_with(kByteOrderMark)) source.erase(0, kByteOrderMark.size());
  return source;
}

// NAME=VALUE sets, NAME alone removes.
wire::EnvironmentEntry ParseEnvironment(const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

// Code and title of each cell.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadSources(
    const EvalOptions& options) {
  std::vector<std::pair<std::string, std::string>> sources;
  for (const std::string& file : options.files) {
    CELLAR_ASSIGN_OR_RETURN(std::string source, ReadSource(file));
    if (std::optional<size_t> invalid = FindInvalidUtf8(source)) {
      return absl::InvalidArgumentError(
          absl::StrCat(file, " is not valid UTF-8 (byte ", *invalid, ")"));
    }
    sources.emplace_back(std::move(source), file);
  }
  for (const std::string& cell : options.cells) {
    if (cell != "-") {
      sources.emplace_back(cell, "");
      continue;
    }
    CELLAR_ASSIGN_OR_RETURN(std::string source, ReadSource("-"));
    sources.emplace_back(std::move(source), "");
  }
  if (sources.empty()) {
    return absl::InvalidArgumentError(
        "nothing to run; give a cell, -f FILE, or - for standard input");
  }
  if (options.titles.size() > sources.size()) {
    return absl::InvalidArgumentError("there are more titles than cells");
  }
  for (size_t i = 0; i < options.titles.size(); ++i) sources[i].second = options.titles[i];
  return sources;
}

absl::StatusOr<Call> CallFromArguments(const EvalOptions& options) {
  CELLAR_RETURN_IF_ERROR(CheckTimeout(options.timeout.value_or(0)));
  Call call = {.cwd = options.cwd, .mode = options.mode, .retry = options.retry};
  for (const std::string& entry : options.environment) {
    call.environment.push_back(ParseEnvironment(entry));
    if (call.environment.back().name.empty()) {
      return absl::InvalidArgumentError("--env " + entry + ": the name of the variable is empty");
    }
  }
  CELLAR_ASSIGN_OR_RETURN(auto sources, ReadSources(options));
  for (auto& [code, title] : sources) {
    CallCell cell = {.code = std::move(code), .title = std::move(title)};
    // Who leaves a call running has no need of it soon.
    if (options.timeout || options.detach) SetTimeout(options.timeout.value_or(0), cell);
    CELLAR_RETURN_IF_ERROR(ValidateCell(cell, call.cells.size()));
    call.cells.push_back(std::move(cell));
  }
  call.cells.front().reset = options.reset;
  return call;
}

absl::StatusOr<Call> CallFromRequest(const EvalOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(std::string request, ReadSource(options.request));
  CELLAR_ASSIGN_OR_RETURN(Call call, ParseCall(request));
  if (options.session.empty() && (call.background_after || !call.parent.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat(call.background_after ? "background_after" : "parent",
                     ": needs a session that outlives this command: give its name with -s"));
  }
  return call;
}

absl::StatusOr<Call> MakeCall(const EvalOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(
      Call call, options.request.empty() ? CallFromArguments(options) : CallFromRequest(options));
  struct stat directory;
  if (!call.cwd.empty() && stat(call.cwd.c_str(), &directory) != 0) {
    return ErrnoStatus(errno, "cwd: " + call.cwd);
  }
  if (!call.cwd.empty() && !S_ISDIR(directory.st_mode)) {
    return ErrnoStatus(ENOTDIR, "cwd: " + call.cwd);
  }
  return call;
}

// The tool as it is offered in this directory; `names_session`: with -s.
int DescribeEval(const LaunchQuery& query, bool names_session) {
  absl::StatusOr<Launch> launch = PrepareLaunch(query);
  ToolOffer offer;
  if (absl::IsInvalidArgument(launch.status())) {  // a setting, and not a Python, is at fault
    return ComplainOf(launch.status());
  }
  if (!launch.ok()) {
    offer = OfferWithout(launch.status());
  } else if (offer.mode = launch->settings.tool_mode; WantsPreflight(*launch, query.env)) {
    absl::StatusOr<std::unique_ptr<Console>> console = Console::Create(*launch);
    if (!console.ok()) {
      offer = OfferWithout(console.status());
    } else {
      Preflight preflight((*console)->loop(), (*console)->templates(), (*console)->storage(),
                          *launch, [&](ToolOffer found) {
                            offer = std::move(found);
                            (*console)->loop().Stop();
                          });
      (*console)->RunLoop();
    }
  }
  return WriteOut(DescribeTool(offer.mode, Printable(offer.reason), names_session) + "\n");
}

int RunEval(const EvalOptions& options) {
  LaunchQuery query = {.env = CurrentEnvironment(),
                       .cwd = options.cwd,
                       .settings = options.settings,
                       .interpreter = options.interpreter};
  if (options.describe) return DescribeEval(query, !options.session.empty());
  absl::StatusOr<Call> call = MakeCall(options);
  if (!call.ok()) return RefuseEval(call.status(), options.session, options.json);
  if (!options.session.empty()) {
    if (!call->session.empty() && call->session != options.session) {
      const absl::Status other = absl::InvalidArgumentError(
          "the request is for the session \"" + call->session + "\", and -s names another");
      return RefuseEval(other, options.session, options.json);
    }
    call->session = options.session;
    return RunSharedEval(*call, {.env = query.env,
                                 .interpreter = options.interpreter,
                                 .json = options.json,
                                 .detach = options.detach});
  }
  return RunOwnEval(*std::move(call), query, options.json);
}

}  // namespace

void AddEvalCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      app.add_subcommand("eval", "Run cells, one after the other, in a fresh or a lasting session");
  CLI::Option* session =
      AddSessionOption(*command, options->session,
                       "Run them in the session of this name, which lasts from one command to the "
                       "next, until it has been idle for half an hour (see: cellar sessions)");
  command
      ->add_option("cells", options->cells,
                   "Each argument is one cell; - reads one from standard input")
      ->option_text("CELL...");
  command->add_option("-f,--file", options->files, "Run a file as one cell, before the arguments")
      ->allow_extra_args(false)
      ->option_text("FILE");
  command
      ->add_option(
          "--timeout", options->timeout,
          "Seconds without progress after which a cell is interrupted (1 to 3600, 0 = never; "
          "default 30, with --detach 0). Progress is log(), phase() and what helpers and tools do; "
          "prints are none")
      ->option_text("SECONDS");
  command->add_option("--cwd", options->cwd, "Directory the cells run in")->option_text("DIR");
  command
      ->add_option("--env", options->environment,
                   "Set a variable for the cells; NAME alone removes it")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE");
  command
      ->add_option("--interpreter", options->interpreter,
                   "Python environment to adopt (see: cellar doctor)")
      ->option_text("PATH");
  CLI::Option* request =
      command
          ->add_option("--request", options->request,
                       "Take the whole call as JSON from a file, or - for standard input; its "
                       "fields are shown by --describe")
          ->option_text("FILE");
  command
      ->add_option("--title", options->titles,
                   "Title of a cell; the first is for the first cell, and so on")
      ->allow_extra_args(false)
      ->option_text("TEXT");
  command
      ->add_option("--mode", options->mode,
                   "Whether a session keeps its variables for later calls (session) or not "
                   "(per-call)")
      ->transform(
          OneOf<CallMode>({{"session", CallMode::kSession}, {"per-call", CallMode::kPerCall}}))
      ->option_text("session|per-call");
  command
      ->add_option("--retry", options->retry,
                   "What becomes of a cell that took its Python process down: once runs it again, "
                   "if the state from before it is there")
      ->transform(OneOf<Retry>({{"never", Retry::kNever}, {"once", Retry::kOnce}}))
      ->option_text("never|once");
  command->add_option("--set", options->settings, "A setting for this run, see: cellar config")
      ->excludes(session)  // which has the settings of who opened it
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  // The text keeps CLI11 from naming here what it excludes.
  command->add_flag("--reset", options->reset, "Start with no variables")->option_text(" ");
  command
      ->add_flag("--detach", options->detach,
                 "Leave the call running, without a time-out unless --timeout gives one, and print "
                 "its handle, for cellar wait and cellar tail; needs -s")
      ->needs(session)
      ->option_text(" ");
  command->add_flag("--json", options->json, "Print the structured result instead of text");
  command->add_flag(
      "--describe", options->describe,
      "Print the tool's description for a model and the JSON Schema of its calls; with "
      "-s, of calls that leave the session to you");
  for (const char* of_the_call : {"cells", "--file", "--timeout", "--cwd", "--env", "--title",
                                  "--mode", "--retry", "--reset"}) {
    request->excludes(command->get_option(of_the_call));
  }
  command->footer(
      "The value of a cell's last expression is printed, unless the line ends in a semicolon.\n"
      "Ctrl-C interrupts the running cell; a second one ends the program.\n"
      "Exit code: 0 fine, 1 a cell failed, 2 usage or a refused request,\n"
      "3 cells could not be run, 130 interrupted.");
  command->callback([options, exit_code] { *exit_code = RunEval(*options); });
}

// A newline behind the bracket, which is nothing in Python, hides it from CLI11.
void KeepListsWhole(const CLI::App& app, std::vector<std::string>& args) {
  if (args.size() < 2 || args[1] != "eval") return;
  const CLI::App* command = app.get_subcommand(args[1]);
  for (size_t i = 2; i < args.size(); ++i) {
    const CLI::Option* before = command->get_option_no_throw(args[i - 1]);
    const bool is_value =
        before != nullptr && before->nonpositional() && before->get_items_expected_max() > 0;
    if (!is_value && args[i].starts_with('[') && args[i].ends_with(']')) args[i] += '\n';
  }
}

}  // namespace cellar::host
