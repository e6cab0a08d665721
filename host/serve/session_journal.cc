#include "host/serve/session_journal.h"

#include <fcntl.h>

#include <cstdio>

#include "host/base/atomic_file.h"
#include "host/base/fds.h"
#include "host/base/json_text.h"
#include "nlohmann/json.hpp"

namespace cellar::host {
namespace {

using nlohmann::json;

constexpr const char* kName = "sessions";
constexpr const char* kNewName = "sessions.new";
constexpr size_t kMaxSessions = 4096;
constexpr size_t kMaxBytes = size_t{32} << 20;

}  // namespace

const std::deque<std::string>& SessionJournal::Load() {
  absl::StatusOr<std::string> text = ReadWholeFile(directory_.Reach(kName), kMaxBytes);
  const json list = json::parse(text.value_or("[]"), nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return sessions_;
  for (const json& session : list) {
    if (session.is_string()) sessions_.push_back(session.get<std::string>());
  }
  return sessions_;
}

void SessionJournal::OnUsed(const std::string& session) {
  std::erase(sessions_, session);
  sessions_.push_back(session);
  if (sessions_.size() > kMaxSessions) sessions_.pop_front();
  Write();
}

void SessionJournal::Remove(const std::string& session) {
  if (std::erase(sessions_, session) > 0) Write();
}

// In its place at once, or not at all: the next daemon then says less. Not synced, because the loop
// waits for it and the file is to outlive the daemon, not the machine.
void SessionJournal::Write() const {
  const int directory = directory_.fd.get();
  UniqueFd file(
      openat(directory, kNewName, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string text = JsonText(json(sessions_));
  if (file && WriteAll(file.get(), text)) renameat(directory, kNewName, directory, kName);
}

}  // namespace cellar::host
