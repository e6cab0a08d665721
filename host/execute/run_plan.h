// Which cells of a notebook are to be run, decided before anything runs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "notebook/document.h"

namespace cellar::host {

// All empty: every code cell.
struct CellSelection {
  std::vector<notebook::CellAddress> cells;
  std::optional<notebook::CellAddress> from;  // this cell and those below it
};

// The cells to run, in the order of the notebook. Cells without source and those tagged
// skip-execution are not run, unless `cells` names them.
absl::StatusOr<std::vector<size_t>> CellsToRun(const notebook::Document& document,
                                               const CellSelection& selection);

// Fails if the notebook says that it is written in another language than Python.
absl::Status CheckLanguage(const notebook::Document& document);

}  // namespace cellar::host
