// Why a session that was open once is empty when it is opened again: by id, told once. Of sessions
// that are gone there may be any number; the oldest are forgotten.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace cellar::host {

class LostStates {
 public:
  static constexpr size_t kMaxRemembered = 4096;

  // In place of what was noted for that id before.
  void Note(const std::string& id, std::string reason) {
    Take(id);
    reasons_.emplace_back(id, std::move(reason));
    if (reasons_.size() > kMaxRemembered) reasons_.pop_front();
  }

  // Empty when nothing is lost.
  std::string Take(const std::string& id) {
    for (auto noted = reasons_.begin(); noted != reasons_.end(); ++noted) {
      if (noted->first != id) continue;
      std::string reason = std::move(noted->second);
      reasons_.erase(noted);
      return reason;
    }
    return "";
  }

 private:
  std::deque<std::pair<std::string, std::string>> reasons_;  // the newest last
};

}  // namespace cellar::host
