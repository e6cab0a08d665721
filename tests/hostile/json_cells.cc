#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "host/base/status.h"
#include "host/eval/call_fields.h"
#include "host/eval/strict_json.h"
#include "nlohmann/json.hpp"
#include "tests/hostile/hostile_cell.h"

namespace cellar::host {

absl::StatusOr<std::vector<HostileCell>> ReadJsonCells(
    const std::filesystem::path& path, const std::map<std::string, HostileCell>& headers) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat("no file ", path.string()));
  std::vector<HostileCell> cells;
  for (std::string line; std::getline(file, line);) {
    CELLAR_ASSIGN_OR_RETURN(const nlohmann::json json, ParseStrictJson(line, kMaxRequestBytes));
    const std::string name = json.at("id");
    const auto header = headers.find(name);
    HostileCell cell = header != headers.end() ? header->second : HostileCell{.name = name};
    cell.code = json.at("code");
    cell.timeout = absl::Seconds(json.at("timeout").get<double>());
    if (json.value("act", "") == "kill9") cell.killed_after = absl::Seconds(1);
    // What they remove is what the test looks for.
    cell.forgets_names = absl::StrContains(cell.code, "globals().clear()");
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace cellar::host
