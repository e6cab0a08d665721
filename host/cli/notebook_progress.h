// Shows a person the run of a notebook: on a terminal as any call is shown (call_printer.h),
// elsewhere one line for each cell, because what cells print is in the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "host/base/event_loop.h"
#include "host/console/call_printer.h"
#include "host/eval/call_observer.h"
#include "host/execute/notebook_runner.h"

namespace cellar::host {

// Lives on the loop's thread. Progress goes to standard output, what failed to standard error.
class NotebookProgress : public CallObserver {
 public:
  // `cells` are the indices of those that are to run.
  NotebookProgress(EventLoop& loop, const std::vector<size_t>& cells);

  void OnCellStarted(size_t index, const CallCell& cell) override;
  void OnText(Stream stream, std::string_view text) override;
  void OnDisplay(const wire::Display& display) override;
  // In the file it belongs to the cell as well, but not what comes before the first one.
  void OnBackgroundText(Stream stream, std::string_view text) override;
  void OnBackgroundDisplay(const wire::Display& display) override;
  void OnCellFinished(size_t index, const CellResult& result) override;

  void OnResize() { printer_.OnResize(); }
  // What is written next is below what is shown.
  void EndLine();
  // A line below what is shown.
  void PrintLine(int fd, std::string_view line);

 private:
  void PrintFinished(size_t cell, const CellResult& result);

  const size_t cells_;
  const bool on_terminal_;
  CallPrinter printer_;
  size_t started_ = 0;  // cells, with the one that runs
};

// The last line: "3 cells run, 1 failed, 2 s".
std::string SummaryOf(const NotebookRunResult& result, absl::Duration duration);
// That the outputs are in a file beside the one that was to be written.
absl::Status WrittenElsewhere(const std::string& path, const std::string& written);

}  // namespace cellar::host
