#include "host/cli/eval_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/fds.h"
#include "host/console/call_printer.h"
#include "host/console/complain.h"
#include "host/console/console.h"
#include "host/console/exit_codes.h"
#include "host/eval/call.h"
#include "host/eval/call_runner.h"
#include "host/eval/result.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

// A cell is text that a person or a model wrote; more than this is a mistake.
constexpr size_t kMaxSource = 64u << 20;

struct EvalOptions {
  std::vector<std::string> cells;
  std::vector<std::string> files;
  double timeout = 30;
  std::string cwd;
  std::string interpreter;
  std::vector<std::string> environment;
  bool json = false;
};

absl::StatusOr<std::string> ReadSource(const std::string& path) {
  bool is_stdin = path == "-";
  UniqueFd opened;
  if (!is_stdin) {
    opened = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened) return ErrnoStatus(errno, "reading " + path);
  }
  int fd = is_stdin ? STDIN_FILENO : opened.get();
  std::string source;
  std::array<char, 64u << 10> buffer;
  while (true) {
    ssize_t size = read(fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return ErrnoStatus(errno, "reading " + path);
    if (size == 0) return source;
    source.append(buffer.data(), static_cast<size_t>(size));
    if (source.size() > kMaxSource) {
      return absl::InvalidArgumentError("reading " + path + ": a cell of more than 64 MiB");
    }
  }
}

// NAME=VALUE sets, NAME alone removes.
wire::EnvironmentEntry ParseEnvironment(const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

absl::StatusOr<Call> MakeCall(const EvalOptions& options) {
  Call call;
  call.cwd = options.cwd;
  for (const std::string& entry : options.environment) {
    call.environment.push_back(ParseEnvironment(entry));
  }
  std::vector<std::pair<std::string, std::string>> sources;  // code, title
  for (const std::string& file : options.files) {
    CELLAR_ASSIGN_OR_RETURN(std::string source, ReadSource(file));
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
  for (auto& [code, title] : sources) {
    CallCell cell = {.code = std::move(code), .title = std::move(title)};
    SetTimeout(options.timeout, cell);
    CELLAR_RETURN_IF_ERROR(ValidateCell(cell, call.cells.size()));
    call.cells.push_back(std::move(cell));
  }
  return call;
}

// One call on a session of its own.
class Evaluation {
 public:
  Evaluation(std::unique_ptr<Console> console, Call call, bool json)
      : console_(std::move(console)),
        printer_([this] { OnReaderGone(); }),
        json_(json),
        runner_(console_->loop(), console_->session(), std::move(call), json ? nullptr : &printer_,
                [this](absl::StatusOr<CallResult> result) { OnDone(std::move(result)); }) {}

  int Run() {
    if (absl::Status status = console_->WatchSignals([this] { OnInterrupt(); }); !status.ok()) {
      Complain(status);
      return kExitCannotRun;
    }
    // What exit handlers print comes after the last cell.
    if (!json_) console_->session().ObserveBackground(&printer_);
    runner_.Start();
    console_->RunLoop();
    if (console_->ended_by() != 0) return 128 + console_->ended_by();
    if (json_ && result_) PrintJson();
    return exit_code_;
  }

 private:
  // The first Ctrl-C interrupts the cell, the second ends the program.
  void OnInterrupt() {
    exit_code_ = kExitInterrupted;
    if (std::exchange(interrupted_, true)) return console_->loop().Stop();
    runner_.Cancel();
  }

  // As a program does that SIGPIPE ends.
  void OnReaderGone() {
    interrupted_ = true;
    exit_code_ = 128 + SIGPIPE;
    console_->loop().Stop();
  }

  void OnDone(absl::StatusOr<CallResult> result) {
    if (!result.ok()) {
      Complain(result.status());
      exit_code_ = kExitCannotRun;
      return console_->Finish();
    }
    if (!interrupted_) exit_code_ = result->status == CallStatus::kOk ? kExitFine : kExitCellFailed;
    result_ = *std::move(result);
    AddTemplateWarnings();
    console_->Finish();
  }

  // A preload that could not be imported, for example.
  void AddTemplateWarnings() {
    absl::StatusOr<Template*> source =
        console_->templates().Get(console_->launch().session.runtime);
    if (!source.ok() || !(*source)->ready()) return;
    for (const std::string& warning : (*source)->ready()->warnings) {
      if (!json_) Complain(absl::UnknownError(warning));
      result_->cells.front().outcome.notices.push_back(warning);
    }
  }

  // After the session has ended, so that its last words are in it.
  void PrintJson() {
    for (CellOutput& output : console_->session().TakeBackground()) {
      result_->background.push_back(std::move(output));
    }
    WriteAll(STDOUT_FILENO, ResultToJson(*result_, IsTerminal(STDOUT_FILENO)) + "\n");
  }

  std::unique_ptr<Console> console_;
  CallPrinter printer_;
  bool json_;
  CallRunner runner_;
  std::optional<CallResult> result_;
  bool interrupted_ = false;
  int exit_code_ = kExitFine;
};

int RunEval(const EvalOptions& options) {
  absl::StatusOr<Call> call = MakeCall(options);
  if (!call.ok()) {
    Complain(call.status());
    return kExitUsage;
  }
  LaunchQuery query = {
      .env = CurrentEnvironment(), .cwd = options.cwd, .interpreter = options.interpreter};
  absl::StatusOr<Launch> launch = PrepareLaunch(query);
  if (!launch.ok()) {
    Complain(launch.status());
    return kExitCannotRun;
  }
  for (const std::string& warning : launch->interpreter.warnings) {
    if (!options.json) std::fprintf(stderr, "cellar: %s\n", Printable(warning).c_str());
  }
  launch->session.environment = call->environment;
  absl::StatusOr<std::unique_ptr<Console>> console = Console::Create(*std::move(launch));
  if (!console.ok()) {
    Complain(console.status());
    return kExitCannotRun;
  }
  return Evaluation(*std::move(console), *std::move(call), options.json).Run();
}

}  // namespace

void AddEvalCommand(CLI::App& app, int* exit_code) {
  auto options = std::make_shared<EvalOptions>();
  CLI::App* command =
      app.add_subcommand("eval", "Run cells, one after the other, in a fresh session");
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
          "Seconds without progress after which a cell is interrupted (1 to 3600, 0 = never)")
      ->capture_default_str();
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
  command->add_flag("--json", options->json, "Print the structured result instead of text");
  command->footer(
      "The value of a cell's last expression is printed, unless the line ends in a semicolon.\n"
      "Ctrl-C interrupts the running cell; a second one ends the program.\n"
      "Exit code: 0 fine, 1 a cell failed, 2 usage, 3 cells could not be run, 130 interrupted.");
  command->callback([options, exit_code] { *exit_code = RunEval(*options); });
}

}  // namespace cellar::host
