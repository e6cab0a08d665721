#include "host/cli/notebook_subcommands.h"

#include <unistd.h>

#include <utility>

#include "absl/status/statusor.h"
#include "host/base/atomic_file.h"
#include "host/base/status.h"
#include "host/cli/notebook_terminal.h"
#include "notebook/file_actions.h"
#include "notebook/span.h"

namespace cellar::host {
namespace {

using notebook::CellType;

absl::Status Print(std::string_view text) {
  WriteToStdout(text);
  return absl::OkStatus();
}

notebook::SaveOptions SaveOptionsOf(const NotebookArguments& arguments) {
  return {.base = arguments.base, .force = arguments.force};
}

// The text from --from or stdin; empty if that is a person's terminal.
absl::StatusOr<std::string> ReadInput(const NotebookArguments& arguments) {
  if (!arguments.source_file.empty()) {
    return ReadWholeFile(arguments.source_file, notebook::kMaxNotebookBytes);
  }
  if (isatty(STDIN_FILENO) == 1) return std::string();
  return ReadToEnd(STDIN_FILENO, "stdin", notebook::kMaxNotebookBytes);
}

// The cell source from --source, --from or stdin. A newline at the end of a file or of stdin ends
// its last line and is not part of the source.
absl::StatusOr<std::string> ReadSource(const NotebookArguments& arguments) {
  if (arguments.source) return *arguments.source;
  CELLAR_ASSIGN_OR_RETURN(std::string source, ReadInput(arguments));
  if (source.ends_with('\n')) source.pop_back();
  return source;
}

bool IsContentMissing(const NotebookArguments& arguments, const std::string& source) {
  return source.empty() && !arguments.source && arguments.source_file.empty();
}

absl::Status ContentMissing() {
  return absl::InvalidArgumentError(
      "missing content: give --source TEXT, --from FILE, or the text on stdin");
}

absl::Status ReportAction(const NotebookArguments& arguments,
                          const absl::StatusOr<notebook::ActionDetails>& details) {
  if (!details.ok()) return details.status();
  const NotebookTerminal terminal = NotebookTerminal::OfStdout();
  if (arguments.json) return Print(terminal.Plain(notebook::DetailsJson(*details)) + "\n");
  std::string report = notebook::Summary(*details) + "\n";
  if (terminal.is_terminal() && details->action != "delete") {
    report += terminal.Preview(details->type, details->source);
  }
  return Print(report);
}

}  // namespace

absl::Status ShowNotebook(const NotebookArguments& arguments) {
  notebook::ShowOptions options = {.raw = arguments.raw, .outputs = arguments.outputs};
  if (!arguments.lines.empty()) {
    CELLAR_ASSIGN_OR_RETURN(options.lines, notebook::ParseLineRanges(arguments.lines));
  }
  CELLAR_ASSIGN_OR_RETURN(notebook::Shown shown, notebook::ShowFile(arguments.file, options));
  if (arguments.hash) return Print(shown.hash + "\n");
  const NotebookTerminal terminal = NotebookTerminal::OfStdout();
  std::string& text = shown.text;
  if (terminal.is_terminal()) text = arguments.raw ? terminal.Plain(text) : terminal.CellText(text);
  if (arguments.page && terminal.is_terminal()) {
    WriteToPager(text);
    return absl::OkStatus();
  }
  return Print(text);
}

absl::Status ApplyNotebook(const NotebookArguments& arguments) {
  const bool from_stdin = arguments.source_file.empty();
  if (from_stdin && isatty(STDIN_FILENO) == 1) {
    return absl::InvalidArgumentError(
        "missing content: give the edited text on stdin or --from FILE");
  }
  CELLAR_ASSIGN_OR_RETURN(std::string text, ReadInput(arguments));
  CELLAR_ASSIGN_OR_RETURN(const notebook::FileApplied result,
                          notebook::ApplyToFile(arguments.file, std::move(text),
                                                from_stdin ? "stdin" : arguments.source_file,
                                                {.keep_outputs = arguments.keep_outputs,
                                                 .dry_run = arguments.dry_run,
                                                 .save = SaveOptionsOf(arguments)}));
  return Print(NotebookTerminal::OfStdout().Diff(result.diff) + notebook::Summary(result.applied) +
               "\n");
}

absl::Status EditNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const std::string source, ReadSource(arguments));
  if (IsContentMissing(arguments, source)) return ContentMissing();
  notebook::EditOptions options{.keep_outputs = arguments.keep_outputs};
  if (!arguments.type.empty()) options.type = notebook::CellTypeFromName(arguments.type);
  return ReportAction(arguments, notebook::EditInFile(arguments.file, arguments.cell, source,
                                                      options, SaveOptionsOf(arguments)));
}

absl::Status InsertIntoNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const std::string source, ReadSource(arguments));
  if (IsContentMissing(arguments, source)) return ContentMissing();
  const CellType type = notebook::CellTypeFromName(arguments.type).value_or(CellType::kCode);
  return ReportAction(arguments, notebook::InsertIntoFile(arguments.file, arguments.cell, type,
                                                          source, SaveOptionsOf(arguments)));
}

absl::Status DeleteFromNotebook(const NotebookArguments& arguments) {
  return ReportAction(arguments, notebook::DeleteFromFile(arguments.file, arguments.cell,
                                                          SaveOptionsOf(arguments)));
}

absl::Status NewNotebook(const NotebookArguments& arguments) {
  return notebook::NewFile(arguments.file);
}

absl::Status ClearNotebook(const NotebookArguments& arguments) {
  return notebook::ClearFile(arguments.file, SaveOptionsOf(arguments));
}

absl::Status ConvertNotebook(const NotebookArguments& arguments) {
  const bool from_notebook = notebook::IsNotebookPath(arguments.file);
  if (from_notebook && arguments.other_file == "-") {
    CELLAR_ASSIGN_OR_RETURN(const std::string script, notebook::ScriptOfFile(arguments.file));
    return Print(NotebookTerminal::OfStdout().Plain(script));
  }
  return notebook::ConvertFile(arguments.file, arguments.other_file,
                               {.keep_outputs = arguments.keep_outputs, .force = arguments.force});
}

}  // namespace cellar::host
