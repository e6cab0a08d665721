#include "notebook/apply.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/base/status.h"
#include "host/base/utf8.h"
#include "notebook/json_string.h"
#include "notebook/marker.h"
#include "notebook/outputs.h"
#include "notebook/rewriter.h"

namespace cellar::notebook {
namespace {

class Application {
 public:
  Application(const Document& document, const EditedText& text, const ApplyOptions& options)
      : document_(document),
        text_(text),
        options_(options),
        used_(document.cell_count(), false),
        rewriter_(document) {}

  absl::StatusOr<Applied> Run() {
    bool in_order = true;
    for (size_t i = 0; i < text_.cells().size(); ++i) {
      const TextCell& cell = text_.cells()[i];
      if (NamesUnusedCell(cell)) {
        used_[cell.origin] = true;
        in_order = in_order && cell.origin == i;
        CELLAR_RETURN_IF_ERROR(WriteOld(i, cell));
      } else {
        CELLAR_RETURN_IF_ERROR(WriteNew(i, cell));
      }
    }
    for (bool used : used_) applied_.removed += used ? 0 : 1;
    if (in_order && applied_.changed + applied_.added + applied_.removed == 0) {
      return std::move(applied_);
    }
    CELLAR_ASSIGN_OR_RETURN(std::string bytes, rewriter_.Finish());
    CELLAR_RETURN_IF_ERROR(ParseBack(std::move(bytes)));
    return std::move(applied_);
  }

 private:
  bool NamesUnusedCell(const TextCell& cell) const {
    return cell.origin < used_.size() && !used_[cell.origin];
  }

  // A text that went through JSON has replacement characters for the lone surrogates of a source.
  bool IsSame(const std::string& given, const std::string& old) const {
    if (IsSameButForLineEnds(given, old)) return true;
    return FindInvalidUtf8(old) && IsSameButForLineEnds(given, ReplaceInvalidUtf8(old));
  }

  // A text whose line ends went through an editor says nothing about carriage returns in sources.
  bool IsSameButForLineEnds(const std::string& given, const std::string& old) const {
    return given == old || (text_.had_crlf() && given == WithoutCarriageReturns(old));
  }

  absl::Status WriteOld(size_t i, const TextCell& cell) {
    const size_t origin = cell.origin;
    CellChange change;
    if (cell.type != document_.type(origin)) change.type = cell.type;
    const std::string before = document_.Source(origin);
    if (std::string source = text_.Source(cell); !IsSame(source, before)) {
      CELLAR_RETURN_IF_ERROR(CheckEncodable(i, source));
      NoteNearMarkers(cell, before);
      change.source = std::move(source);
    }
    if (!change.type && !change.source) {
      rewriter_.Keep(origin);
      return absl::OkStatus();
    }
    change.clear_outputs = change.source && !options_.keep_outputs;
    if (LosesOutputs(document_, origin, change)) applied_.cleared.push_back(origin);
    rewriter_.Change(origin, change);
    ++applied_.changed;
    return absl::OkStatus();
  }

  absl::Status WriteNew(size_t i, const TextCell& cell) {
    NewCell added{.type = cell.type, .source = text_.Source(cell)};
    CELLAR_RETURN_IF_ERROR(CheckEncodable(i, added.source));
    NoteNearMarkers(cell, /*before=*/"");
    rewriter_.Add(std::move(added));
    ++applied_.added;
    return absl::OkStatus();
  }

  // One who marked a cell a little wrong has put it into the cell above, and should hear of it.
  void NoteNearMarkers(const TextCell& cell, const std::string& before) {
    const std::string& text = text_.text();
    size_t line = cell.body.begin;
    while (line < cell.body.end) {
      const size_t end = std::min<size_t>(text.find('\n', line), cell.body.end);
      const std::string found = text.substr(line, end - line);
      if (IsNearMarker(found) && !HasLine(before, found)) {
        const auto number = std::count(text.begin(), text.begin() + line, '\n') + 1;
        applied_.near_markers.push_back({static_cast<size_t>(number), found});
      }
      line = end + 1;
    }
  }

  static bool HasLine(const std::string& source, const std::string& line) {
    return ("\n" + source + "\n").find("\n" + line + "\n") != std::string::npos;
  }

  static absl::Status CheckEncodable(size_t i, const std::string& source) {
    if (IsEncodable(source)) return absl::OkStatus();
    return absl::InvalidArgumentError("cell " + std::to_string(i) + " of the text is not UTF-8");
  }

  absl::Status ParseBack(std::string bytes) {
    CELLAR_ASSIGN_OR_RETURN(Document result, Document::Parse(std::move(bytes), &document_));
    const auto& cells = text_.cells();
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i >= result.cell_count() || result.type(i) != cells[i].type ||
          !IsSame(text_.Source(cells[i]), result.Source(i))) {
        return absl::InternalError("cell " + std::to_string(i) +
                                   " would not read back as it was given; nothing was changed");
      }
    }
    applied_.document = std::move(result);
    return absl::OkStatus();
  }

  const Document& document_;
  const EditedText& text_;
  const ApplyOptions& options_;
  std::vector<bool> used_;  // by old cell
  Rewriter rewriter_;
  Applied applied_;
};

}  // namespace

absl::StatusOr<Applied> Apply(const Document& document, const EditedText& text,
                              const ApplyOptions& options) {
  if (text.cells().empty() && document.cell_count() > 0) {
    return absl::InvalidArgumentError("the text is empty, which would remove every cell");
  }
  return Application(document, text, options).Run();
}

}  // namespace cellar::notebook
