#include "host/console/status_tree.h"

#include <algorithm>
#include <array>

#include "host/output/printable.h"
#include "host/output/spoken_duration.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

constexpr std::array<const char*, 10> kSpinner = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
// Rows of each kind; more would push the output off the screen.
constexpr size_t kMaxAgents = 5;
constexpr size_t kMaxDoings = 3;
constexpr size_t kMaxPending = 3;

std::string PrintableIn(const json& event, const char* name) {
  auto found = event.find(name);
  return found != event.end() && found->is_string() ? Printable(found->get<std::string>()) : "";
}

// "read data.csv", "tool search".
std::string DoingOf(const std::string& op, const json& event) {
  for (const char* name : {"path", "name", "label", "model", "key", "file_a"}) {
    if (const std::string what = PrintableIn(event, name); !what.empty()) return op + " " + what;
  }
  return op;
}

}  // namespace

void StatusTree::Plan(const std::vector<CallCell>& cells) {
  titles_.clear();
  for (const CallCell& cell : cells) titles_.push_back(Printable(cell.title));
}

void StatusTree::BeginCell(size_t index) {
  index_ = index;
  phase_.clear();
  agents_.clear();
  doings_.clear();
}

// log() is said, phase() is shown as long as it lasts; what others do comes and goes.
std::string StatusTree::OnEvent(std::string_view text) {
  const json event = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object()) return "";
  const std::string op = PrintableIn(event, "op");
  if (op == "log") return PrintableIn(event, "message");
  if (op == "phase") {
    phase_ = PrintableIn(event, "title");
    doings_.clear();
  } else if (op == "agent") {
    const std::string doing = DoingOf(op, event);
    auto agent = std::ranges::find(agents_, doing);
    if (PrintableIn(event, "state") == "started") {
      agents_.push_back(doing);
    } else if (agent != agents_.end()) {
      agents_.erase(agent);
    }
  } else if (!op.empty()) {
    doings_.push_back(DoingOf(op, event));
    if (doings_.size() > kMaxDoings) doings_.pop_front();
  }
  return "";
}

std::string StatusTree::LabelOf(size_t index) const {
  if (titles_.size() < 2 || index >= titles_.size()) return "";
  const std::string place =
      "[" + std::to_string(index + 1) + "/" + std::to_string(titles_.size()) + "]";
  return titles_[index].empty() ? place : place + " " + titles_[index];
}

std::vector<std::string> StatusTree::Rows(size_t tick, absl::Duration elapsed) const {
  std::string running = kSpinner[tick % kSpinner.size()];
  if (const std::string label = LabelOf(index_); !label.empty()) running += " " + label + " ";
  running += " " + SpokenDuration(elapsed);
  if (!phase_.empty()) running += "  " + phase_;
  std::vector<std::string> rows = {running};
  for (size_t i = 0; i < std::min(agents_.size(), kMaxAgents); ++i)
    rows.push_back("├ " + agents_[i]);
  if (agents_.size() > kMaxAgents) {
    rows.push_back("├ " + std::to_string(agents_.size() - kMaxAgents) + " more agents");
  }
  for (const std::string& doing : doings_) rows.push_back("├ " + doing);
  if (rows.size() > 1) rows.back().replace(0, std::string_view("├").size(), "└");
  const size_t pending = index_ + 1 < titles_.size() ? titles_.size() - index_ - 1 : 0;
  for (size_t i = 0; i < std::min(pending, kMaxPending); ++i) {
    rows.push_back("· " + LabelOf(index_ + 1 + i));
  }
  if (pending > kMaxPending) rows.push_back("· " + std::to_string(pending - kMaxPending) + " more");
  return rows;
}

}  // namespace cellar::host
