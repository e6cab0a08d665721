#include "host/execute/run_plan.h"

#include <optional>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "host/base/status.h"
#include "notebook/cell_metadata.h"
#include "notebook/json_string.h"

namespace cellar::host {
namespace {

using notebook::CellType;
using notebook::Document;
using notebook::Span;

constexpr char kSkipTag[] = "skip-execution";

absl::StatusOr<std::vector<size_t>> NamedCells(
    const Document& document, const std::vector<notebook::CellAddress>& addresses) {
  std::set<size_t> cells;
  for (const notebook::CellAddress& address : addresses) {
    CELLAR_ASSIGN_OR_RETURN(const size_t cell, document.Find(address));
    if (document.type(cell) != CellType::kCode) {
      return absl::InvalidArgumentError("cell " + address.text + " is not a code cell");
    }
    cells.insert(cell);
  }
  return std::vector<size_t>(cells.begin(), cells.end());
}

bool IsWorthRunning(const Document& document, size_t cell) {
  return document.type(cell) == CellType::kCode &&
         !absl::StripAsciiWhitespace(document.Source(cell)).empty() &&
         !notebook::HasTag(document, cell, kSkipTag);
}

// The string at `path` of nested objects, or nothing.
std::optional<std::string> FindText(const Document& document,
                                    std::initializer_list<std::string_view> path) {
  const std::string& bytes = document.bytes();
  Span value{static_cast<uint32_t>(bytes.find('{')), static_cast<uint32_t>(bytes.size())};
  for (std::string_view key : path) {
    if (bytes[value.begin] != '{') return std::nullopt;
    const std::optional<Span> member = notebook::FindMember(bytes, value, key);
    if (!member) return std::nullopt;
    value = *member;
  }
  if (bytes[value.begin] != '"') return std::nullopt;
  return notebook::Decoded(notebook::Slice(bytes, value));
}

}  // namespace

absl::StatusOr<std::vector<size_t>> CellsToRun(const Document& document,
                                               const CellSelection& selection) {
  if (!selection.cells.empty()) return NamedCells(document, selection.cells);
  size_t first = 0;
  if (selection.from) {
    CELLAR_ASSIGN_OR_RETURN(first, document.Find(*selection.from));
  }
  std::vector<size_t> cells;
  for (size_t cell = first; cell < document.cell_count(); ++cell) {
    if (IsWorthRunning(document, cell)) cells.push_back(cell);
  }
  return cells;
}

absl::Status CheckLanguage(const Document& document) {
  std::optional<std::string> language = FindText(document, {"metadata", "language_info", "name"});
  if (!language) language = FindText(document, {"metadata", "kernelspec", "language"});
  if (!language || absl::StartsWith(absl::AsciiStrToLower(*language), "python") ||
      absl::EqualsIgnoreCase(*language, "ipython")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError("the notebook is written in " + *language +
                                    "; cellar runs Python");
}

}  // namespace cellar::host
