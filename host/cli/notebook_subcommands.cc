#include "host/cli/notebook_subcommands.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "absl/status/statusor.h"
#include "host/base/atomic_file.h"
#include "host/base/status.h"
#include "host/cli/notebook_terminal.h"
#include "notebook/action.h"
#include "notebook/apply.h"
#include "notebook/content_hash.h"
#include "notebook/diff.h"
#include "notebook/notebook_file.h"
#include "notebook/outputs.h"
#include "notebook/percent.h"
#include "notebook/text_view.h"

namespace cellar::host {
namespace {

using notebook::Applied;
using notebook::CellType;
using notebook::Document;
using notebook::NotebookFile;

NotebookOutcome Misused(std::string why) {
  return {absl::InvalidArgumentError(std::move(why)), /*misused=*/true};
}

absl::Status Print(std::string_view text) {
  if (WriteToStdout(text)) return absl::OkStatus();
  return absl::DataLossError("writing to stdout failed");
}

// Errors of edits know cells and lines; this adds the file.
absl::Status InFile(const NotebookArguments& arguments, const absl::Status& status) {
  return status.ok() ? status : notebook::WithPath(arguments.file, status);
}

absl::Status CheckBase(const NotebookArguments& arguments, const NotebookFile& file) {
  if (arguments.base.empty()) return absl::OkStatus();
  const std::string hash = notebook::ContentHash(file.document().bytes());
  if (arguments.base == hash) return absl::OkStatus();
  return absl::AbortedError(arguments.file + ": changed since base " + arguments.base +
                            " was shown (it is " + hash + " now); nothing was written");
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
  if (arguments.has_source) return arguments.source;
  CELLAR_ASSIGN_OR_RETURN(std::string source, ReadInput(arguments));
  if (source.ends_with('\n')) source.pop_back();
  return source;
}

bool IsContentMissing(const NotebookArguments& arguments, const std::string& source) {
  return source.empty() && !arguments.has_source && arguments.source_file.empty();
}

NotebookOutcome ContentMissing() {
  return Misused("missing content: give --source TEXT, --from FILE, or the text on stdin");
}

absl::Status SaveAction(const NotebookArguments& arguments, const NotebookFile& file,
                        const notebook::ActionResult& result) {
  CELLAR_RETURN_IF_ERROR(file.Save(result.document, arguments.force));
  const NotebookTerminal terminal = NotebookTerminal::OfStdout();
  if (arguments.json) return Print(terminal.Plain(notebook::DetailsJson(result.details)) + "\n");
  std::string report = notebook::Summary(result.details) + "\n";
  if (terminal.is_terminal() && result.details.action != "delete") {
    report += terminal.Preview(result.details.type, result.details.source);
  }
  return Print(report);
}

std::string Counted(size_t count, const std::string& what) {
  return std::to_string(count) + (count == 1 ? " cell " : " cells ") + what;
}

std::string DescribeApplied(const Applied& applied) {
  if (!applied.document) return "nothing to change\n";
  std::string summary = Counted(applied.changed, "changed") + ", " + std::to_string(applied.added) +
                        " added, " + std::to_string(applied.removed) + " removed";
  if (!applied.cleared.empty()) {
    summary += "; outputs cleared of cell";
    for (size_t cell : applied.cleared) summary += " " + std::to_string(cell);
  }
  return summary + "\n";
}

bool IsNotebookPath(std::string path) {
  std::transform(path.begin(), path.end(), path.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return path.ends_with(".ipynb");
}

absl::Status ConvertToScript(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(arguments.file));
  auto script = notebook::ToPercent(file.document());
  if (!script.ok()) return InFile(arguments, script.status());
  if (arguments.other_file == "-") return Print(NotebookTerminal::OfStdout().Plain(*script));
  if (!arguments.force && access(arguments.other_file.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(arguments.other_file + ": exists already; --force replaces it");
  }
  return ReplaceFile(arguments.other_file, *script);
}

absl::Status ConvertToNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const std::string script,
                          ReadWholeFile(arguments.file, notebook::kMaxNotebookBytes));
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(arguments.other_file));
  if (!file.exists()) {
    auto document = notebook::FromPercent(script);
    if (!document.ok()) return InFile(arguments, document.status());
    return file.Save(*document, false);
  }
  auto applied =
      notebook::ApplyPercent(file.document(), script, {.keep_outputs = arguments.keep_outputs});
  if (!applied.ok()) return InFile(arguments, applied.status());
  return applied->document ? file.Save(*applied->document, arguments.force) : absl::OkStatus();
}

}  // namespace

NotebookOutcome ShowNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(arguments.file));
  const Document& document = file.document();
  if (arguments.hash) return Print(notebook::ContentHash(document.bytes()) + "\n");
  const NotebookTerminal terminal = NotebookTerminal::OfStdout();
  std::string text = arguments.raw ? document.bytes()
                                   : notebook::RenderText(document, {.outputs = arguments.outputs});
  if (!arguments.lines.empty()) {
    auto ranges = notebook::ParseLineRanges(arguments.lines);
    if (!ranges.ok()) return Misused(std::string(ranges.status().message()));
    auto selected = notebook::SelectLines(text, *ranges);
    if (!selected.ok()) return InFile(arguments, selected.status());
    text = *std::move(selected);
  }
  if (terminal.is_terminal()) text = arguments.raw ? terminal.Plain(text) : terminal.CellText(text);
  if (arguments.page && terminal.is_terminal()) {
    WriteToPager(text);
    return absl::OkStatus();
  }
  return Print(text);
}

NotebookOutcome ApplyNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(arguments.file));
  CELLAR_RETURN_IF_ERROR(CheckBase(arguments, file));
  const bool from_stdin = arguments.source_file.empty();
  if (from_stdin && isatty(STDIN_FILENO) == 1) {
    return Misused("missing content: give the edited text on stdin or --from FILE");
  }
  CELLAR_ASSIGN_OR_RETURN(std::string content, ReadInput(arguments));
  auto text = notebook::EditedText::Parse(std::move(content));
  if (!text.ok()) {
    return notebook::WithPath(from_stdin ? "stdin" : arguments.source_file, text.status());
  }
  auto applied = notebook::Apply(file.document(), *text, {.keep_outputs = arguments.keep_outputs});
  if (!applied.ok()) return InFile(arguments, applied.status());
  if (arguments.dry_run) {
    const std::string diff = notebook::UnifiedDiff(notebook::RenderText(file.document()),
                                                   text->text(), arguments.file, "edited text");
    return Print(NotebookTerminal::OfStdout().Diff(diff) + DescribeApplied(*applied));
  }
  if (applied->document) {
    CELLAR_RETURN_IF_ERROR(file.Save(*applied->document, arguments.force));
  }
  return Print(DescribeApplied(*applied));
}

NotebookOutcome EditNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(arguments.file));
  CELLAR_RETURN_IF_ERROR(CheckBase(arguments, file));
  auto cell = file.document().Find(arguments.cell);
  if (!cell.ok()) return InFile(arguments, cell.status());
  CELLAR_ASSIGN_OR_RETURN(const std::string source, ReadSource(arguments));
  if (IsContentMissing(arguments, source)) return ContentMissing();
  notebook::EditOptions options{.keep_outputs = arguments.keep_outputs};
  if (!arguments.type.empty()) options.type = notebook::CellTypeFromName(arguments.type);
  auto result = notebook::EditCell(file.document(), *cell, source, options);
  if (!result.ok()) return InFile(arguments, result.status());
  return SaveAction(arguments, file, *result);
}

NotebookOutcome InsertIntoNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(arguments.file));
  CELLAR_RETURN_IF_ERROR(CheckBase(arguments, file));
  const size_t count = file.document().cell_count();
  size_t index = count;
  if (arguments.cell != std::to_string(count)) {
    auto cell = file.document().Find(arguments.cell);
    if (!cell.ok()) return InFile(arguments, cell.status());
    index = *cell;
  }
  CELLAR_ASSIGN_OR_RETURN(const std::string source, ReadSource(arguments));
  if (IsContentMissing(arguments, source)) return ContentMissing();
  const CellType type = notebook::CellTypeFromName(arguments.type).value_or(CellType::kCode);
  auto result = notebook::InsertCell(file.document(), index, type, source);
  if (!result.ok()) return InFile(arguments, result.status());
  return SaveAction(arguments, file, *result);
}

NotebookOutcome DeleteFromNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(arguments.file));
  CELLAR_RETURN_IF_ERROR(CheckBase(arguments, file));
  auto cell = file.document().Find(arguments.cell);
  if (!cell.ok()) return InFile(arguments, cell.status());
  auto result = notebook::DeleteCell(file.document(), *cell);
  if (!result.ok()) return InFile(arguments, result.status());
  return SaveAction(arguments, file, *result);
}

NotebookOutcome NewNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::OpenOrStart(arguments.file));
  if (file.exists()) return absl::AlreadyExistsError(arguments.file + ": exists already");
  return file.Save(Document::Empty(), false);
}

NotebookOutcome ClearNotebook(const NotebookArguments& arguments) {
  CELLAR_ASSIGN_OR_RETURN(const NotebookFile file, NotebookFile::Open(arguments.file));
  CELLAR_RETURN_IF_ERROR(CheckBase(arguments, file));
  auto cleared = notebook::ClearOutputs(file.document());
  if (!cleared.ok()) return InFile(arguments, cleared.status());
  return file.Save(*cleared, arguments.force);
}

NotebookOutcome ConvertNotebook(const NotebookArguments& arguments) {
  const bool from_notebook = IsNotebookPath(arguments.file);
  if (from_notebook == IsNotebookPath(arguments.other_file)) {
    return Misused("convert goes from a .ipynb file to a script or from a script to a .ipynb file");
  }
  return from_notebook ? ConvertToScript(arguments) : ConvertToNotebook(arguments);
}

}  // namespace cellar::host
