#include "notebook/percent_cell.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "notebook/json_format.h"
#include "notebook/json_scanner.h"
#include "notebook/json_string.h"
#include "notebook/percent_code.h"

namespace cellar::notebook {
namespace {

// Options with this prefix belong to the cell itself, all others are its metadata.
constexpr std::string_view kCellPrefix = "cell.";
// Metadata with a key that cannot be the name of an option.
constexpr std::string_view kMetadataOption = "cell.metadata";
// How many newlines end the source.
constexpr std::string_view kNewlinesOption = "cell.newlines";
// A code cell that is written like a text cell.
constexpr std::string_view kCommentedOption = "cell.commented";
// Members whose key cannot be the name of an option, or is that of one of these.
constexpr std::string_view kMembersOption = "cell.members";
constexpr size_t kMaxNewlines = 100000;

bool IsOptionCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '@' || c == '/' || c == '-';
}

bool IsOptionKey(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), IsOptionCharacter);
}

// True if a member of a cell called `key` may stand in an option of that name.
bool IsMemberKey(std::string_view key) {
  return IsOptionKey(key) && key != "metadata" && key != "newlines" && key != "commented" &&
         key != "members";
}

void AppendOption(std::string_view key, std::string_view value, std::string* line) {
  *line += ' ';
  *line += key;
  *line += '=';
  *line += value;
}

void AppendMetadata(std::string_view metadata, std::string* line) {
  const std::vector<Member> members =
      Members(metadata, {0, static_cast<uint32_t>(metadata.size())});
  std::string options;
  for (const Member& member : members) {
    const std::string key = Decoded(Slice(metadata, member.key));
    if (!IsOptionKey(key) || key.starts_with(kCellPrefix)) {
      AppendOption(kMetadataOption, metadata, line);
      return;
    }
    AppendOption(key, OneLine(Slice(metadata, member.value)), &options);
  }
  *line += options;
}

void AppendMembers(const PercentCell& cell, std::string* line) {
  std::string others;
  for (const auto& [key, value] : cell.members) {
    if (IsMemberKey(key)) {
      AppendOption(std::string(kCellPrefix) + key, value, line);
    } else {
      others += (others.empty() ? "" : ", ") + Quoted(key, {}) + ": " + value;
    }
  }
  if (!others.empty()) AppendOption(kMembersOption, "{" + others + "}", line);
}

// Without the times of the last run, which would make a script differ after every run; jupytext
// leaves them out too.
std::string MetadataForScript(std::string_view bytes, Span metadata) {
  if (!FindMember(bytes, metadata, kExecutionKey)) return OneLine(Slice(bytes, metadata));
  std::string kept;
  for (const Member& member : Members(bytes, metadata)) {
    if (StandsFor(Slice(bytes, member.key), kExecutionKey)) continue;
    kept += (kept.empty() ? "" : ", ") + std::string(Slice(bytes, member.key)) + ": " +
            OneLine(Slice(bytes, member.value));
  }
  return "{" + kept + "}";
}

size_t CountTrailingNewlines(std::string_view source) {
  const size_t last = source.find_last_not_of('\n');
  return last == std::string_view::npos ? source.size() : source.size() - last - 1;
}

std::string WriteTextLines(const std::vector<std::string_view>& lines) {
  std::string out;
  for (std::string_view line : lines) out += TextLineToScript(line) + "\n";
  return out;
}

// None if the script could not be cut into cells again: a line made a comment starts a cell, or the
// code ends inside a string, which would swallow the next cell.
std::optional<std::string> WriteCodeLines(const std::vector<std::string_view>& lines) {
  std::string out;
  CodeLines code;
  for (std::string_view line : lines) {
    const bool at_boundary = code.at_boundary();
    const std::string script_line = code.ToScript(line);
    if (at_boundary && IsCellStart(script_line)) return std::nullopt;
    out += script_line + "\n";
  }
  code.ToScript("");
  if (!code.at_boundary()) return std::nullopt;
  return out;
}

// The options of a `# %%` line, parsed.
struct CellStart {
  PercentCell cell;
  size_t newlines = 0;
  bool commented = false;
};

void AddOption(std::string_view key, std::string_view value, CellStart* start,
               std::string* metadata) {
  if (key == kMetadataOption && value.starts_with('{')) {
    start->cell.metadata = value;
  } else if (key == kNewlinesOption) {
    std::from_chars(value.data(), value.data() + value.size(), start->newlines);
    start->newlines = std::min(start->newlines, kMaxNewlines);
  } else if (key == kCommentedOption) {
    start->commented = value == "true";
  } else if (key == kMembersOption && value.starts_with('{')) {
    for (const Member& member : Members(value, {0, static_cast<uint32_t>(value.size())})) {
      start->cell.members.emplace_back(Decoded(Slice(value, member.key)),
                                       Slice(value, member.value));
    }
  } else if (key.starts_with(kCellPrefix)) {
    start->cell.members.emplace_back(key.substr(kCellPrefix.size()), value);
  } else {
    *metadata += metadata->empty() ? "" : ", ";
    *metadata += Quoted(key, {}) + ": " + std::string(value);
  }
}

// `key=JSON` at the start of `rest` is taken off it.
bool TakeOption(std::string_view* rest, CellStart* start, std::string* metadata) {
  const size_t equals = rest->find('=');
  if (equals == std::string_view::npos || !IsOptionKey(rest->substr(0, equals))) return false;
  JsonScanner scanner(*rest, equals + 1);
  Span value;
  if (!scanner.SkipValue(&value)) return false;
  if (value.end < rest->size() && (*rest)[value.end] != ' ') return false;
  AddOption(rest->substr(0, equals), Slice(*rest, value), start, metadata);
  rest->remove_prefix(value.end);
  return true;
}

bool TakeType(std::string_view* rest, CellType* type) {
  constexpr std::pair<std::string_view, CellType> kTypes[] = {{"[markdown]", CellType::kMarkdown},
                                                              {"[md]", CellType::kMarkdown},
                                                              {"[raw]", CellType::kRaw},
                                                              {"[code]", CellType::kCode}};
  for (const auto& [word, named] : kTypes) {
    if (!rest->starts_with(word)) continue;
    *type = named;
    rest->remove_prefix(word.size());
    return true;
  }
  return false;
}

CellStart ReadCellStart(std::string_view line) {
  CellStart start;
  line.remove_prefix(line.find('%'));
  line.remove_prefix(std::min(line.find_first_not_of('%'), line.size()));
  std::string metadata;
  std::string title;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty()) break;
    if (TakeType(&line, &start.cell.type) || TakeOption(&line, &start, &metadata)) continue;
    const size_t word = std::min(line.find_first_of(" \t\r"), line.size());
    title += title.empty() ? "" : " ";
    title += line.substr(0, word);
    line.remove_prefix(word);
  }
  // jupytext too keeps a title as metadata.
  if (!title.empty()) {
    metadata = "\"title\": " + Quoted(title, {}) + (metadata.empty() ? "" : ", ") + metadata;
  }
  if (!metadata.empty()) start.cell.metadata = "{" + metadata + "}";
  return start;
}

// Collects the lines of one cell.
class CellReader {
 public:
  explicit CellReader(CellStart start) : start_(std::move(start)) {}

  bool at_boundary() const { return is_text() || code_.at_boundary(); }
  bool has_text() const { return source_.find_first_not_of('\n') != std::string::npos; }

  void Add(std::string_view line) {
    source_ += is_text() ? TextLineFromScript(line) : code_.FromScript(line);
    source_ += '\n';
  }

  // Blank lines at the end separate cells; which of them belong to the source an option says.
  PercentCell Finish() {
    source_.resize(source_.size() - CountTrailingNewlines(source_));
    source_.append(start_.newlines, '\n');
    start_.cell.source = std::move(source_);
    return std::move(start_.cell);
  }

 private:
  bool is_text() const { return start_.cell.type != CellType::kCode || start_.commented; }

  CellStart start_;
  CodeLines code_;
  std::string source_;
};

}  // namespace

std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, newline));
    text.remove_prefix(std::min(newline + 1, text.size()));
  }
  return lines;
}

PercentCell CellForPercent(const Document& document, size_t cell) {
  const std::string& bytes = document.bytes();
  PercentCell result{.type = document.type(cell), .source = document.Source(cell)};
  const std::string_view source_key = SourceKey(document.layout(), result.type);
  for (const Member& member : Members(bytes, document.span(cell))) {
    const std::string key = Decoded(Slice(bytes, member.key));
    const std::string_view value = Slice(bytes, member.value);
    if (key == source_key || key == "outputs" || key == CountKey(document.layout())) continue;
    if (key == "metadata" && value.starts_with('{')) {
      result.metadata = MetadataForScript(bytes, member.value);
    } else if (key != "cell_type" || !StandsFor(value, CellTypeName(result.type))) {
      result.members.emplace_back(key, OneLine(value));
    }
  }
  return result;
}

std::string WritePercentCell(const PercentCell& cell) {
  std::string line = "# %%";
  if (cell.type != CellType::kCode) line += " [" + std::string(CellTypeName(cell.type)) + "]";
  AppendMetadata(cell.metadata, &line);
  AppendMembers(cell, &line);
  const size_t newlines = CountTrailingNewlines(cell.source);
  if (newlines > 0) AppendOption(kNewlinesOption, std::to_string(newlines), &line);
  const std::string_view text = cell.source;
  const std::vector<std::string_view> lines = LinesOf(text.substr(0, text.size() - newlines));
  std::optional<std::string> code;
  if (cell.type == CellType::kCode) {
    code = WriteCodeLines(lines);
    if (!code) AppendOption(kCommentedOption, "true", &line);
  }
  return line + "\n" + (code ? *code : WriteTextLines(lines));
}

std::vector<PercentCell> ReadPercentCells(const std::vector<std::string_view>& lines) {
  std::vector<PercentCell> cells;
  CellReader reader({});
  bool is_marked = false;  // lines before the first `# %%` are a cell only if they say something
  for (std::string_view line : lines) {
    if (reader.at_boundary() && IsCellStart(line)) {
      if (is_marked || reader.has_text()) cells.push_back(reader.Finish());
      reader = CellReader(ReadCellStart(line));
      is_marked = true;
    } else if (is_marked || reader.has_text() || !line.empty()) {
      reader.Add(line);
    }
  }
  if (is_marked || reader.has_text()) cells.push_back(reader.Finish());
  return cells;
}

}  // namespace cellar::notebook
