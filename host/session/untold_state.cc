#include "host/session/untold_state.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace cellar::host {
namespace {

constexpr char kRanFresh[] = "; this cell ran in a fresh session";
constexpr char kNotRun[] = "; this cell was interrupted before it began";

}  // namespace

void TellNotCarried(const std::vector<std::string>& not_carried, CellOutcome& outcome) {
  if (not_carried.empty()) return;
  outcome.notices.push_back(
      absl::StrCat("not in a snapshot, and so not restored: ", absl::StrJoin(not_carried, ", ")));
}

void UntoldState::OnLost(std::string why) {
  why_empty_ = std::move(why);
  how_restored_.clear();
}

void UntoldState::OnRestored(std::string how, std::vector<std::string> not_carried,
                             uint32_t undone_end) {
  how_restored_ = std::move(how);
  not_carried_ = std::move(not_carried);
  undone_end_ = undone_end;
}

uint32_t UntoldState::UndoneEnd(uint32_t next_cell) const {
  return how_restored_.empty() ? next_cell : std::max(undone_end_, next_cell);
}

void UntoldState::TellAfter(CellOutcome& outcome) const {
  Tell(kRanFresh, "", outcome);
  if (!how_restored_.empty()) TellNotCarried(not_carried_, outcome);
}

void UntoldState::TellUnbegun(CellOutcome& outcome) const { Tell(kNotRun, kNotRun, outcome); }

// A restore is the later news: there was something again to go back to.
void UntoldState::Tell(const char* after_empty, const char* after_restored,
                       CellOutcome& outcome) const {
  if (!how_restored_.empty()) {
    outcome.state = StateAfter::kRestored;
    outcome.state_detail = how_restored_ + after_restored;
  } else if (!why_empty_.empty()) {
    outcome.state = StateAfter::kFresh;
    outcome.state_detail = why_empty_ + after_empty;
  }
}

void UntoldState::TellBeside(CellOutcome& outcome) const {
  if (!why_empty_.empty()) outcome.notices.push_back(why_empty_ + kRanFresh);
  if (!how_restored_.empty()) outcome.notices.push_back(how_restored_);
}

}  // namespace cellar::host
