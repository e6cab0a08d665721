#include "host/cli/notebook_subcommands.h"

#include <unistd.h>

#include <utility>

#include "absl/status/statusor.h"
#include "host/base/atomic_file.h"
#include "host/base/status.h"
#include "host/cli/notebook_terminal.h"
#include "host/console/terminal.h"
#include "notebook/span.h"

namespace cellar::host {
namespace {

using notebook::CellType;

absl::Status Print(std::string_view text) {
  WriteToStdout(text);
  return absl::OkStatus();
}

// The text of the file, or of stdin if none is named; empty if that is a person's terminal.
absl::StatusOr<std::string> ReadInput(const std::string& file) {
  if (!file.empty()) return ReadWholeFile(file, notebook::kMaxNotebookBytes);
  if (IsTerminal(STDIN_FILENO)) return std::string();
  return ReadToEnd(STDIN_FILENO, "stdin", notebook::kMaxNotebookBytes);
}

// A newline at the end of a file or of stdin ends its last line and is not part of the source.
absl::StatusOr<std::string> SourceOf(const CellContent& content) {
  if (content.source) return *content.source;
  CELLAR_ASSIGN_OR_RETURN(std::string source, ReadInput(content.source_file));
  if (source.ends_with('\n')) source.pop_back();
  if (source.empty() && content.source_file.empty()) {
    return absl::InvalidArgumentError(
        "missing content: give --source TEXT, --from FILE, or the text on stdin");
  }
  return source;
}

absl::Status ReportAction(const absl::StatusOr<notebook::ActionDetails>& details, bool json) {
  if (!details.ok()) return details.status();
  const NotebookTerminal terminal = NotebookTerminal::OfStdout();
  if (json) return Print(terminal.Plain(notebook::DetailsJson(*details)) + "\n");
  std::string report = notebook::Summary(*details) + "\n";
  if (terminal.is_terminal() && details->action != "delete") {
    report += terminal.Preview(details->type, details->source);
  }
  return Print(report);
}

}  // namespace

absl::Status ShowNotebook(const ShowArguments& arguments) {
  notebook::ShowOptions options = {
      .raw = arguments.raw, .outputs = arguments.outputs, .diff = arguments.diff};
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

absl::Status ApplyNotebook(const ApplyArguments& arguments) {
  const bool from_stdin = arguments.text_file.empty();
  if (from_stdin && IsTerminal(STDIN_FILENO)) {
    return absl::InvalidArgumentError(
        "missing content: give the edited text on stdin or --from FILE");
  }
  CELLAR_ASSIGN_OR_RETURN(std::string text, ReadInput(arguments.text_file));
  CELLAR_ASSIGN_OR_RETURN(
      const notebook::FileApplied result,
      notebook::ApplyToFile(arguments.file, std::move(text),
                            from_stdin ? "stdin" : arguments.text_file, arguments.options));
  const NotebookTerminal terminal = NotebookTerminal::OfStdout();
  return Print(terminal.Diff(result.diff) + terminal.Plain(notebook::Summary(result.applied)) +
               "\n");
}

absl::Status EditNotebook(const EditArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const std::string source, SourceOf(arguments.content));
  const notebook::EditOptions options = {.type = notebook::CellTypeFromName(arguments.content.type),
                                         .keep_outputs = arguments.keep_outputs};
  return ReportAction(
      notebook::EditInFile(arguments.file, {arguments.cell}, source, options, arguments.save),
      arguments.json);
}

absl::Status InsertIntoNotebook(const InsertArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const std::string source, SourceOf(arguments.content));
  const CellType type =
      notebook::CellTypeFromName(arguments.content.type).value_or(CellType::kCode);
  return ReportAction(
      notebook::InsertIntoFile(arguments.file, {arguments.cell}, type, source, arguments.save),
      arguments.json);
}

absl::Status DeleteFromNotebook(const DeleteArguments& arguments) {
  return ReportAction(notebook::DeleteFromFile(arguments.file, {arguments.cell}, arguments.save),
                      arguments.json);
}

absl::Status NewNotebook(const NewArguments& arguments) {
  return notebook::NewFile(arguments.file);
}

absl::Status ClearNotebook(const ClearArguments& arguments) {
  return notebook::ClearFile(arguments.file, arguments.save);
}

absl::Status ConvertNotebook(const ConvertArguments& arguments) {
  const bool from_notebook = notebook::IsNotebookPath(arguments.file);
  if (from_notebook && arguments.to == "-") {
    CELLAR_ASSIGN_OR_RETURN(const std::string script, notebook::ScriptOfFile(arguments.file));
    return Print(NotebookTerminal::OfStdout().Plain(script));
  }
  return notebook::ConvertFile(arguments.file, arguments.to, arguments.options);
}

}  // namespace cellar::host
