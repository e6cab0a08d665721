// Which sessions a daemon has had, written down for the next one, which can then say that their
// state is gone. Those used last: the oldest are forgotten.
#pragma once

#include <deque>
#include <string>

#include "host/serve/runtime_directory.h"
#include "host/session/session_listener.h"

namespace cellar::host {

class SessionJournal : public SessionListener {
 public:
  explicit SessionJournal(const RuntimeDirectory& directory) : directory_(directory) {}

  // What the daemon before has left; it stays written down.
  const std::deque<std::string>& Load();

  void OnUsed(const std::string& session) override;
  // Closed on purpose: nobody expects its state.
  void Remove(const std::string& session);

 private:
  void Write() const;

  const RuntimeDirectory& directory_;
  std::deque<std::string> sessions_;  // the newest last
};

}  // namespace cellar::host
