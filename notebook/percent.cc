#include "notebook/percent.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "host/base/status.h"
#include "host/base/utf8.h"
#include "notebook/json_format.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/outputs.h"
#include "notebook/percent_cell.h"
#include "notebook/percent_header.h"
#include "notebook/rewriter.h"

namespace cellar::notebook {
namespace {

constexpr int kMemberDepth = 3;  // of the members of a cell

struct Script {
  PercentHeader header;
  std::vector<PercentCell> cells;
};

absl::StatusOr<Script> ReadScript(std::string_view text) {
  if (!IsEncodable(text)) return absl::InvalidArgumentError("the script is not UTF-8");
  if (text.size() > kMaxNotebookBytes) {
    return absl::ResourceExhaustedError("the script is longer than " +
                                        std::to_string(kMaxNotebookBytes) + " bytes");
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::string converted;
  if (text.substr(0, text.find('\n')).ends_with('\r')) {
    converted = WithoutCarriageReturns(text);
    text = converted;
  }
  std::vector<std::string_view> lines = LinesOf(text);
  Script script;
  script.header = TakeHeader(&lines);
  script.cells = ReadPercentCells(lines);
  return script;
}

bool IsWorksheetFormat(std::string_view top) {
  if (top.empty()) return false;
  const std::optional<Span> format =
      FindMember(top, {0, static_cast<uint32_t>(top.size())}, "nbformat");
  return format && (Slice(top, *format) == "3" || Slice(top, *format) == "2");
}

// A notebook without cells that has all the header says, in nbformat's own style: one space, keys
// sorted.
absl::StatusOr<Document> StartNotebook(const PercentHeader& header) {
  std::map<std::string, std::string> members;
  if (header.top.empty()) {
    members["nbformat"] = "4";
    members["nbformat_minor"] = "5";
  } else {
    const std::string_view top = header.top;
    for (const Member& member : Members(top, {0, static_cast<uint32_t>(top.size())})) {
      members[Decoded(Slice(top, member.key))] = Slice(top, member.value);
    }
  }
  members["metadata"] = header.metadata;
  if (IsWorksheetFormat(header.top)) {
    members["worksheets"] = "[{\"cells\": [], \"metadata\": {}}]";
  } else {
    members["cells"] = "[]";
  }
  std::string object = "{";
  for (const auto& [key, value] : members) {
    if (object.size() > 1) object += ',';
    object += Quoted(key, {}) + ":" + value;
  }
  return Document::Parse(Indented(object + "}", 0) + "\n");
}

NewCell ToNewCell(const PercentCell& cell) {
  NewCell added{.type = cell.type, .source = cell.source};
  for (const auto& [key, value] : cell.members) {
    added.members.emplace_back(key, Indented(value, kMemberDepth));
  }
  added.members.emplace_back("metadata", Indented(cell.metadata, kMemberDepth));
  return added;
}

absl::Status CheckSameCells(const Document& document, const std::vector<PercentCell>& cells) {
  for (size_t i = 0; i < std::max(document.cell_count(), cells.size()); ++i) {
    if (i >= cells.size() || i >= document.cell_count() || cells[i].type != document.type(i) ||
        cells[i].source != document.Source(i)) {
      return absl::InternalError("cell " + std::to_string(i) +
                                 " would not read back from the script as it is");
    }
  }
  return absl::OkStatus();
}

// Which old cells the cells of a script are.
class Matcher {
 public:
  explicit Matcher(const Document& document) : used_(document.cell_count()) {
    for (size_t cell = document.cell_count(); cell-- > 0;) {
      if (std::optional<std::string> id = document.Id(cell)) by_id_[*id] = cell;
      by_text_[{document.type(cell), document.Source(cell)}].push_back(cell);
    }
  }

  std::vector<std::optional<size_t>> Match(const std::vector<PercentCell>& cells) {
    std::vector<std::optional<size_t>> matches(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) {
      auto found = by_id_.find(IdOf(cells[i]));
      if (found != by_id_.end()) matches[i] = Take(found->second);
    }
    for (size_t i = 0; i < cells.size(); ++i) {
      auto found = by_text_.find({cells[i].type, cells[i].source});
      while (!matches[i] && found != by_text_.end() && !found->second.empty()) {
        matches[i] = Take(found->second.back());
        found->second.pop_back();
      }
    }
    return matches;
  }

 private:
  static std::string IdOf(const PercentCell& cell) {
    for (const auto& [key, value] : cell.members) {
      if (key == "id" && value.starts_with('"')) return Decoded(value);
    }
    return "";
  }

  std::optional<size_t> Take(size_t cell) {
    if (used_[cell]) return std::nullopt;
    used_[cell] = true;
    return cell;
  }

  std::vector<bool> used_;
  std::map<std::string, size_t> by_id_;
  std::map<std::pair<CellType, std::string>, std::vector<size_t>> by_text_;  // last cell first
};

// With the times of its last run, which a script does not hold.
std::string WithTimesOf(const Document& document, size_t cell, const std::string& metadata) {
  const std::string& bytes = document.bytes();
  const Span all{0, static_cast<uint32_t>(metadata.size())};
  const std::optional<Span> old = FindMember(bytes, document.span(cell), "metadata");
  if (!old || bytes[old->begin] != '{' || FindMember(metadata, all, kExecutionKey)) return metadata;
  const std::optional<Span> times = FindMember(bytes, *old, kExecutionKey);
  if (!times) return metadata;
  const bool is_empty = Members(metadata, all).empty();
  return "{" + Quoted(kExecutionKey, {}) + ": " + std::string(Slice(bytes, *times)) +
         (is_empty ? "" : ", ") + metadata.substr(1);
}

// What the script says differently from the old cell. Only a script of cellar's own holds all
// metadata.
CellChange FindChange(const Document& document, size_t cell, const PercentCell& wanted,
                      bool has_all_metadata, const ApplyOptions& options) {
  CellChange change;
  if (wanted.type != document.type(cell)) change.type = wanted.type;
  if (wanted.source != document.Source(cell)) change.source = wanted.source;
  change.clear_outputs = change.source && !options.keep_outputs;
  if (has_all_metadata && CellForPercent(document, cell).metadata != wanted.metadata) {
    change.metadata = Indented(WithTimesOf(document, cell, wanted.metadata), kMemberDepth);
  }
  return change;
}

}  // namespace

absl::StatusOr<std::string> ToPercent(const Document& document) {
  std::string script = WriteHeader(document);
  for (size_t cell = 0; cell < document.cell_count(); ++cell) {
    if (cell > 0) script += '\n';
    script += WritePercentCell(CellForPercent(document, cell));
  }
  CELLAR_ASSIGN_OR_RETURN(Script read, ReadScript(script));
  CELLAR_RETURN_IF_ERROR(CheckSameCells(document, read.cells));
  return script;
}

absl::StatusOr<Document> FromPercent(std::string_view text) {
  CELLAR_ASSIGN_OR_RETURN(Script script, ReadScript(text));
  CELLAR_ASSIGN_OR_RETURN(Document start, StartNotebook(script.header));
  Rewriter rewriter(start);
  for (const PercentCell& cell : script.cells) rewriter.Add(ToNewCell(cell));
  CELLAR_ASSIGN_OR_RETURN(std::string bytes, rewriter.Finish());
  CELLAR_ASSIGN_OR_RETURN(Document document, Document::Parse(std::move(bytes)));
  CELLAR_RETURN_IF_ERROR(CheckSameCells(document, script.cells));
  return document;
}

absl::StatusOr<Applied> ApplyPercent(const Document& document, std::string_view text,
                                     const ApplyOptions& options) {
  CELLAR_ASSIGN_OR_RETURN(Script script, ReadScript(text));
  if (script.cells.empty() && document.cell_count() > 0) {
    return absl::InvalidArgumentError("the script is empty, which would remove every cell");
  }
  const bool has_all_metadata = !script.header.top.empty();
  const auto matches = Matcher(document).Match(script.cells);
  Applied applied;
  applied.removed = document.cell_count();
  Rewriter rewriter(document);
  for (size_t i = 0; i < script.cells.size(); ++i) {
    if (!matches[i]) {
      rewriter.Add(ToNewCell(script.cells[i]));
      ++applied.added;
      continue;
    }
    const size_t cell = *matches[i];
    --applied.removed;
    const CellChange change =
        FindChange(document, cell, script.cells[i], has_all_metadata, options);
    if (!change.type && !change.source && !change.metadata) {
      rewriter.Keep(cell);
      continue;
    }
    if (LosesOutputs(document, cell, change)) applied.cleared.push_back(cell);
    rewriter.Change(cell, change);
    ++applied.changed;
  }
  CELLAR_ASSIGN_OR_RETURN(std::string bytes, rewriter.Finish());
  CELLAR_ASSIGN_OR_RETURN(Document result, Document::Parse(std::move(bytes)));
  CELLAR_RETURN_IF_ERROR(CheckSameCells(result, script.cells));
  if (result.bytes() != document.bytes()) applied.document = std::move(result);
  return applied;
}

}  // namespace cellar::notebook
