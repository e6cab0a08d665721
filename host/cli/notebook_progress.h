// Shows a person how far the run of a notebook is: on a terminal one line that is drawn again and
// again, elsewhere one line for each cell.
#pragma once

#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/execute/notebook_runner.h"
#include "host/output/sanitiser.h"

namespace cellar::host {

// Lives on the loop's thread. Progress goes to standard output, what failed to standard error.
class NotebookProgress : public NotebookRunObserver {
 public:
  NotebookProgress(EventLoop& loop, size_t cells);
  ~NotebookProgress() override;

  void OnCellStarted(size_t place, size_t cell) override;
  void OnText(Stream stream, std::string_view text) override;
  void OnNotice(const std::string& notice) override;
  void OnCellFinished(size_t cell, const CellOutcome& outcome, bool failed) override;

  // A line that stays, in the place of the one that changes.
  void PrintLine(int fd, std::string_view line);

 private:
  void Draw();
  void DrawRegularly();
  void Erase();
  std::string Place(size_t cell) const;

  EventLoop& loop_;
  const size_t cells_;
  const bool redraws_;
  size_t place_ = 0;
  size_t cell_ = 0;
  absl::Time started_;
  Sanitiser sanitiser_;  // of what the cell prints
  std::string last_line_;
  bool drawn_ = false;
  EventLoop::TimerId timer_ = 0;
};

}  // namespace cellar::host
