// What has become of a session's state that no outcome has told yet: the next cell finds less than
// the last one left, and its outcome says so.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/session/outcome.h"

namespace cellar::host {

// What a snapshot could not carry, one phrase each, as a notice; none when there is nothing.
void TellNotCarried(const std::vector<std::string>& not_carried, CellOutcome& outcome);

class UntoldState {
 public:
  UntoldState() = default;
  // There is nothing where a client could expect something; empty: as it should be.
  explicit UntoldState(std::string why_empty) : why_empty_(std::move(why_empty)) {}

  void OnLost(std::string why);
  // The state is that of a snapshot. `undone_end`: see UndoneEnd().
  void OnRestored(std::string how, std::vector<std::string> not_carried, uint32_t undone_end);
  // Whoever asked for an earlier state knows of it.
  void OnRewound() { how_restored_.clear(); }

  // Empty where nothing is lost.
  const std::string& why_empty() const { return why_empty_; }
  // For a session whose next cell has this number and that goes back to before an earlier one: the
  // first cell that is not undone. Of a restore that nobody has been told of, all that was undone
  // is undone still.
  uint32_t UndoneEnd(uint32_t next_cell) const;

  // To the outcome of a cell that ran,
  void TellAfter(CellOutcome& outcome) const;
  // of one that was interrupted before it began: the next one tells it again,
  void TellUnbegun(CellOutcome& outcome) const;
  // and of one that took its worker with it, whose own end is the news.
  void TellBeside(CellOutcome& outcome) const;

 private:
  // `after_empty`, `after_restored`: what follows the reason in the outcome's detail.
  void Tell(const char* after_empty, const char* after_restored, CellOutcome& outcome) const;

  std::string why_empty_;
  std::string how_restored_;
  std::vector<std::string> not_carried_;  // by that restore
  uint32_t undone_end_ = 0;               // of that restore
};

}  // namespace cellar::host
