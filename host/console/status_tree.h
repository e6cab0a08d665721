// What a person is told of a call while it runs: how the cell is that runs, what its helpers do,
// and which cells are still to come. Rows of text; draws nothing.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "host/eval/call.h"

namespace cellar::host {

class StatusTree {
 public:
  // The cells of the call. Of one alone nothing needs to be said.
  void Plan(const std::vector<CallCell>& cells);
  void BeginCell(size_t index);
  // What a helper tells, as JSON. Returns what is to be said at once, or nothing.
  std::string OnEvent(std::string_view event);

  // Of the cell that runs: "[2/3] load", or empty.
  std::string label() const { return LabelOf(index_); }
  // `tick` counts how often it was asked.
  std::vector<std::string> Rows(size_t tick, absl::Duration elapsed) const;

 private:
  std::string LabelOf(size_t index) const;

  std::vector<std::string> titles_;
  size_t index_ = 0;
  std::string phase_;
  std::deque<std::string> agents_;  // that are at work
  std::deque<std::string> doings_;  // of other helpers, in the phase; the last ones
};

}  // namespace cellar::host
