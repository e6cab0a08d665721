#include "host/cli/notebook_run.h"

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "host/base/clock.h"
#include "host/base/status.h"
#include "host/cli/command_line.h"
#include "host/cli/notebook_progress.h"
#include "host/cli/shared_notebook_run.h"
#include "host/console/complain.h"
#include "host/console/console.h"
#include "host/console/exit_codes.h"
#include "host/console/standard_output.h"
#include "host/eval/call_fields.h"
#include "host/execute/notebook_runner.h"
#include "host/execute/prepared_run.h"
#include "host/output/printable.h"

namespace cellar::host {
namespace {

struct RunArguments {
  NotebookRunRequest request;
  std::vector<std::string> cells;       // indexes or ids
  std::string from;                     // an index or an id
  std::vector<std::string> parameters;  // name=value
  double timeout = 0;                   // seconds
  std::string session;
  std::string cwd;
  std::string interpreter;
};

absl::StatusOr<std::unique_ptr<Console>> MakeConsole(const RunArguments& arguments) {
  // Cells find the files beside the notebook, as in Jupyter.
  LaunchQuery query = {
      .env = CurrentEnvironment(),
      .cwd = arguments.cwd.empty() ? FolderOf(arguments.request.file) : arguments.cwd,
      .interpreter = arguments.interpreter};
  CELLAR_ASSIGN_OR_RETURN(Launch launch, PrepareLaunch(query));
  // The file takes the output; an artifact is for what a file has no room for.
  SinkOptions& output = launch.session.output;
  output.head_bytes = CellRecorder::kHeadBytes;
  output.budget_bytes = CellRecorder::kHeadBytes + CellRecorder::kTailBytes;
  output.max_line_characters = 0;
  output.max_inline_bytes = 0;
  return Console::Create(std::move(launch));
}

class NotebookRun {
 public:
  NotebookRun(std::unique_ptr<Console> console, PreparedRun prepared)
      : console_(std::move(console)),
        path_(prepared.target.path),
        progress_(console_->loop(), prepared.options.cells),
        runner_(console_->loop(), console_->session(), std::move(prepared.document),
                std::move(prepared.target), std::move(prepared.options), progress_,
                [this](const absl::Status& status) { OnDone(status); }) {}

  int Run() {
    const absl::Status watched =
        console_->WatchSignals([this] { OnInterrupt(); }, [this] { progress_.OnResize(); });
    if (!watched.ok()) {
      Complain(watched);
      return ExitCodeFor(watched);
    }
    runner_.Start();
    console_->RunLoop();
    // What exit handlers printed, or what there is when a signal ended the loop.
    const absl::Status saved = runner_.SaveNow();
    if (!could_run_.ok()) return ExitCodeFor(could_run_);
    if (console_->exit_code() != 0) return console_->exit_code();
    const int written = Report(saved);
    if (runner_.result().interrupted) return kExitInterrupted;
    const NotebookRunResult& result = runner_.result();
    const bool ran_all = result.cells_failed == 0 && result.stopped.ok();
    const bool fine = ran_all && saved.ok() && runner_.path() == path_;
    return fine ? written : kExitFailed;
  }

 private:
  // The first Ctrl-C interrupts the cell, the second kills it, the third does not wait for that.
  void OnInterrupt() {
    if (++interrupts_ > 2) return console_->loop().Stop();
    runner_.Cancel();
  }

  void OnDone(const absl::Status& status) {
    could_run_ = status;
    if (!status.ok()) Complain(status);
    console_->Finish();
  }

  // Complaints go to standard error, each on a line of its own.
  void Complain(const absl::Status& status) {
    const std::string why = Printable(std::string(status.message()));
    progress_.PrintLine(STDERR_FILENO, absl::StrCat("cellar: notebook: ", why));
  }

  // Lines that could not be written do not end the run, which is for the file; the last one tells.
  int Report(const absl::Status& saved) {
    if (const absl::Status& stopped = runner_.result().stopped; !stopped.ok()) Complain(stopped);
    if (!saved.ok()) {
      Complain(saved);
    } else if (runner_.path() != path_) {
      Complain(WrittenElsewhere(path_, runner_.path()));
    }
    progress_.EndLine();
    return WriteOut(SummaryOf(runner_.result(), MonotonicNow() - started_) + "\n");
  }

  const absl::Time started_ = MonotonicNow();
  std::unique_ptr<Console> console_;
  const std::string path_;
  NotebookProgress progress_;
  NotebookRunner runner_;
  absl::Status could_run_;
  int interrupts_ = 0;
};

absl::StatusOr<PreparedRun> Prepare(const RunArguments& arguments) {
  NotebookRunRequest request = arguments.request;
  for (const std::string& text : arguments.parameters) {
    CELLAR_ASSIGN_OR_RETURN(Parameter parameter, Parameter::Parse(text));
    request.parameters.push_back(std::move(parameter));
  }
  return PrepareRun(request);
}

// As for cellar eval.
absl::StatusOr<absl::Duration> TimeoutOf(double seconds) {
  CELLAR_RETURN_IF_ERROR(CheckTimeout(seconds));
  const ClampedTimeout clamped = ClampTimeout(seconds);
  if (!clamped.note.empty()) Complain(clamped.note);
  return clamped.timeout;
}

int RunNotebook(RunArguments& arguments) {
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf(arguments.timeout);
  if (!timeout.ok()) return ComplainOf(timeout.status());
  arguments.request.timeout = *timeout;
  CellSelection& selection = arguments.request.selection;
  for (const std::string& cell : arguments.cells) selection.cells.push_back({cell});
  if (!arguments.from.empty()) selection.from = {arguments.from};
  if (!arguments.session.empty()) {
    return RunSharedNotebook({.request = arguments.request,
                              .parameters = arguments.parameters,
                              .session = arguments.session,
                              .interpreter = arguments.interpreter});
  }
  absl::StatusOr<PreparedRun> prepared = Prepare(arguments);
  if (!prepared.ok()) return ComplainOf(prepared.status());
  absl::StatusOr<std::unique_ptr<Console>> console = MakeConsole(arguments);
  if (!console.ok()) return ComplainOf(console.status());
  prepared->options.retry = (*console)->launch().settings.retry;
  return NotebookRun(*std::move(console), *std::move(prepared)).Run();
}

}  // namespace

void AddNotebookRunCommand(CLI::App& notebook, int* exit_code) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      notebook.add_subcommand("run", "Run the code cells and write their outputs into the file");
  command->add_option("file", arguments->request.file, "The notebook")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("-o,--output", arguments->request.output,
                   "Write this file, leave the notebook alone")
      ->option_text("FILE");
  CLI::Option* cell = command
                          ->add_option("--cell", arguments->cells,
                                       "Run only this cell (index from 0, or id); may be repeated")
                          ->allow_extra_args(false)
                          ->option_text("CELL");
  command->add_option("--from", arguments->from, "Run this cell and those below it")
      ->option_text("CELL")
      ->excludes(cell);
  command
      ->add_option_function<std::vector<std::string>>(
          "-p,--param",
          [arguments](const std::vector<std::string>& texts) { arguments->parameters = texts; },
          "Assign a variable in a cell behind the one tagged \"parameters\"; may be repeated")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE")
      ->check([](const std::string& text) {
        return std::string(Parameter::Parse(text).status().message());
      });
  command->add_flag("--allow-errors", arguments->request.allow_errors,
                    "Go on after a cell that fails");
  command
      ->add_option("--timeout", arguments->timeout,
                   "Seconds without progress after which a cell is interrupted (1 to 3600; default "
                   "0 = never)")
      ->option_text("SECONDS");
  command->add_flag("--clear", arguments->request.clear,
                    "First remove all outputs, also of cells not run");
  CLI::Option* session =
      AddSessionOption(*command, arguments->session,
                       "Run on this session of the daemon, see cellar eval -s; it goes on after");
  command
      ->add_option("--cwd", arguments->cwd,
                   "Directory the cells run in; default: that of the notebook")
      ->option_text("DIR")
      ->excludes(session);
  command
      ->add_option("--interpreter", arguments->interpreter,
                   "Python environment to adopt (see: cellar doctor)")
      ->option_text("PATH");
  command->footer(
      "The file is written while the cells run, and is a valid notebook at any moment. The first\n"
      "cell that fails ends the run, unless it is tagged raises-exception; cells tagged\n"
      "skip-execution are not run. Ctrl-C interrupts the cell and ends the run.\n"
      "Exit code: 0 fine, 1 a cell failed or could not be run after others had, 2 usage or a\n"
      "refused request (no such notebook or cell), 3 no cell could be run or standard output "
      "could\n"
      "not be written, 130 interrupted, 141 the reader of the output is gone.");
  command->callback([arguments, exit_code] { *exit_code = RunNotebook(*arguments); });
}

}  // namespace cellar::host
