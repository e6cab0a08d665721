// Cells that hurt the process they run in, with what the result of each must say.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace cellar::host {

enum class Ending {
  kCompletes,
  kFails,        // with an exception of its own; the worker lives
  kInterrupted,  // by its time-out; the worker lives
  kKilled,       // by its time-out, since it did not heed the interrupt
  kDies,         // takes its worker down
};

inline void PrintTo(Ending ending, std::ostream* out) {
  constexpr const char* kNames[] = {"completes", "fails", "interrupted", "killed", "dies"};
  *out << kNames[static_cast<size_t>(ending)];
}

struct HostileCell {
  std::string name;
  std::string code;
  // Nothing: any ending that keeps the rules.
  std::optional<Ending> ending;
  std::string told = {};  // stands in what the result says
  absl::Duration timeout = absl::Seconds(10);
  std::optional<absl::Duration> killed_after = {};  // SIGKILL from outside, after its start
  bool forgets_names = false;  // by its own doing the namespace is empty afterwards
  bool ends_keeper = false;    // and with it the snapshots
};

// The files of a directory such as cells/. It is an error if a header does not parse, or if two
// cells have one name.
absl::StatusOr<std::vector<HostileCell>> ReadCellFiles(const std::filesystem::path& directory);

// The headers of a file such as given.txt, by the names in them.
absl::StatusOr<std::map<std::string, HostileCell>> ReadHeaders(const std::filesystem::path& path);

// A file with one JSON object a line: `id`, `code`, `timeout` in seconds; `act` "kill9" for a kill
// from outside. What becomes of them is in the headers, for those that have one.
absl::StatusOr<std::vector<HostileCell>> ReadJsonCells(
    const std::filesystem::path& path, const std::map<std::string, HostileCell>& headers);

}  // namespace cellar::host
