#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "host/base/status.h"
#include "host/eval/call_fields.h"
#include "host/eval/strict_json.h"
#include "nlohmann/json.hpp"
#include "tests/hostile/hostile_cell.h"

namespace cellar::host {

absl::StatusOr<std::vector<HostileCell>> ReadHostileCells(std::string_view path) {
  std::ifstream file{std::string(path)};
  if (!file) return absl::NotFoundError(absl::StrCat("no file ", std::string(path)));
  std::vector<HostileCell> cells;
  for (std::string line; std::getline(file, line);) {
    CELLAR_ASSIGN_OR_RETURN(const nlohmann::json json, ParseStrictJson(line, kMaxRequestBytes));
    HostileCell cell{.name = json.at("id"),
                     .code = json.at("code"),
                     .timeout = absl::Seconds(json.at("timeout").get<double>())};
    if (json.value("act", "") == "kill9") cell.killed_after = absl::Seconds(1);
    // What they remove is what the test looks for.
    cell.forgets_names = cell.code.find("globals().clear()") != std::string::npos;
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace cellar::host
