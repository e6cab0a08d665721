// Reads cells/*.py and given.txt. cells/README.md says how they are written.
#include <fstream>
#include <regex>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/base/status.h"
#include "nlohmann/json.hpp"
#include "tests/hostile/hostile_cell.h"

namespace cellar::host {
namespace {

namespace fs = std::filesystem;

constexpr char kMark[] = "# %%";
// The same as in cell_files.py.
constexpr char kHeader[] =
    R"re(# %% ([\w.-]+) \| (completes|fails|interrupted|killed|dies|any ending))re"
    R"re((?: \| says ("(?:[^"\\]|\\.)+"))?(?: \| time-out (\d{1,9}) ms)?)re"
    R"re((?: \| kill -9 after (\d{1,9}) ms)?( \| forgets names)?( \| ends keeper)?)re"
    R"re((?: \| repeats ("(?:[^"\\]|\\.)+") ([1-9]\d{0,8}) times)?)re";
// What is in its brackets.
enum Field { kName = 1, kEnding, kTold, kTimeout, kKill, kForgets, kKeeper, kRepeated, kTimes };

// A cell as it is read, its code a line at a time.
struct Draft {
  HostileCell cell;
  std::string repeated;
  int times = 1;
};

std::optional<Ending> EndingOf(std::string_view word) {
  if (word == "completes") return Ending::kCompletes;
  if (word == "fails") return Ending::kFails;
  if (word == "interrupted") return Ending::kInterrupted;
  if (word == "killed") return Ending::kKilled;
  if (word == "dies") return Ending::kDies;
  return std::nullopt;
}

absl::StatusOr<Draft> DraftOf(const std::string& header) {
  static const std::regex kPattern(kHeader);
  std::smatch fields;
  if (!std::regex_match(header, fields, kPattern)) {
    return absl::InvalidArgumentError(absl::StrCat("no header of a cell: ", header));
  }
  Draft draft{.cell = {.name = fields[kName], .ending = EndingOf(fields[kEnding].str())}};
  for (const auto& [field, text] :
       {std::pair(kTold, &draft.cell.told), std::pair(kRepeated, &draft.repeated)}) {
    if (!fields[field].matched) continue;
    const auto json = nlohmann::json::parse(fields[field].str(), nullptr, false);
    if (json.is_discarded()) {
      return absl::InvalidArgumentError(absl::StrCat("no JSON string: ", fields[field].str()));
    }
    *text = json;
  }
  const auto milliseconds = [&](Field field) {
    return absl::Milliseconds(std::stoi(fields[field]));
  };
  if (fields[kTimeout].matched) draft.cell.timeout = milliseconds(kTimeout);
  if (fields[kKill].matched) draft.cell.killed_after = milliseconds(kKill);
  draft.cell.forgets_names = fields[kForgets].matched;
  draft.cell.ends_keeper = fields[kKeeper].matched;
  if (fields[kTimes].matched) draft.times = std::stoi(fields[kTimes]);
  return draft;
}

absl::StatusOr<HostileCell> CellOf(Draft draft) {
  HostileCell& cell = draft.cell;
  cell.code.erase(cell.code.find_last_not_of('\n') + 1);
  if (cell.code.empty()) return absl::InvalidArgumentError(absl::StrCat(cell.name, " has no code"));
  const size_t place = cell.code.find(draft.repeated);
  if (place == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(cell.name, " has nothing to repeat"));
  }
  std::string more;
  for (int i = 1; i < draft.times; ++i) more += draft.repeated;
  cell.code.insert(place, more);
  return std::move(cell);
}

absl::StatusOr<std::vector<Draft>> ReadDrafts(const fs::path& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("no file ", path.string()));
  std::vector<Draft> drafts;
  for (std::string line; std::getline(file, line);) {
    if (absl::StartsWith(line, kMark)) {
      CELLAR_ASSIGN_OR_RETURN(Draft draft, DraftOf(line));
      drafts.push_back(std::move(draft));
    } else if (!drafts.empty()) {
      absl::StrAppend(&drafts.back().cell.code, line, "\n");
    } else if (!line.empty() && line.front() != '#') {
      return absl::InvalidArgumentError(absl::StrCat("code before the first header: ", line));
    }
  }
  return drafts;
}

}  // namespace

absl::StatusOr<std::map<std::string, HostileCell>> ReadHeaders(const fs::path& path) {
  CELLAR_ASSIGN_OR_RETURN(std::vector<Draft> drafts, ReadDrafts(path));
  std::map<std::string, HostileCell> headers;
  for (Draft& draft : drafts) headers.emplace(draft.cell.name, std::move(draft.cell));
  return headers;
}

absl::StatusOr<std::vector<HostileCell>> ReadCellFiles(const fs::path& directory) {
  std::error_code error;
  std::set<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() == ".py") paths.insert(entry.path());
  }
  if (error) return absl::NotFoundError(absl::StrCat(directory.string(), ": ", error.message()));
  std::vector<HostileCell> cells;
  std::set<std::string> names;
  for (const fs::path& path : paths) {
    CELLAR_ASSIGN_OR_RETURN(std::vector<Draft> drafts, ReadDrafts(path));
    for (Draft& draft : drafts) {
      CELLAR_ASSIGN_OR_RETURN(HostileCell cell, CellOf(std::move(draft)));
      if (!names.insert(cell.name).second) {
        return absl::AlreadyExistsError(absl::StrCat("two cells are called ", cell.name));
      }
      cells.push_back(std::move(cell));
    }
  }
  return cells;
}

}  // namespace cellar::host
