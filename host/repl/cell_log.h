// The cells that were run at a prompt, with what they showed: what :save writes and :expand shows.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/base/atomic_file.h"
#include "host/execute/cell_recorder.h"
#include "host/session/outcome.h"

namespace cellar::host {

class CellLog {
 public:
  struct Cell {
    std::string source;
    uint32_t execution_count = 0;
    absl::Time started;
    absl::Time ended;
    std::vector<RecordedOutput> outputs;
  };

  void Begin(std::string source);
  // Of the cell that has begun.
  CellRecorder& recorder() { return recorder_; }
  void End(const CellOutcome& outcome);
  // The session has gone back to before that cell: what came after is undone.
  void Rewind(uint32_t before_cell);
  // It has begun anew: what was run before is done with, and no Rewind reaches it.
  void Reset() { done_with_ = cells_.size(); }

  const std::vector<Cell>& cells() const { return cells_; }
  bool empty() const { return cells_.empty(); }

 private:
  void LimitMemory();

  std::vector<Cell> cells_;  // that have ended
  Cell cell_;                // that has begun
  CellRecorder recorder_;
  size_t done_with_ = 0;  // so many of the first cells
  size_t bytes_ = 0;      // of all outputs
};

// Whether cells can be saved in a file of that name.
bool IsCellFile(std::string_view path);

// A notebook with outputs for `.ipynb`, a script with `# %%` between the cells for `.py`. A file
// that exists is replaced. Returns the stamp of what was written.
absl::StatusOr<FileStamp> SaveCells(const std::vector<CellLog::Cell>& cells,
                                    const std::string& path);

// The sources of the code cells of such a file, or of any notebook or script.
absl::StatusOr<std::vector<std::string>> LoadCells(const std::string& path);

}  // namespace cellar::host
