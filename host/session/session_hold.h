// The right to use a session, given by the registry to one call at a time.
#pragma once

#include "host/session/session_query.h"

namespace cellar::host {

class CellObserver;
class Session;
class SessionRegistry;
struct Settings;

// While it lives, the session is its holder's alone. The registry outlives it.
class SessionHold {
 public:
  SessionHold(SessionHold&& other) noexcept;
  SessionHold& operator=(SessionHold&&) = delete;
  ~SessionHold();

  Session& session() const { return *session_; }
  const SessionKey& key() const { return *key_; }
  // Those of the directory that the session was opened in.
  const Settings& settings() const { return *settings_; }
  // What was printed before the hold, and nobody has heard. With null nobody ever does: it is in
  // the outcome of the next cell all the same.
  void TellUnheard(CellObserver* observer) const;

 private:
  friend class SessionRegistry;
  SessionHold(SessionRegistry& registry, TicketId ticket, Session& session, const SessionKey& key,
              const Settings& settings)
      : registry_(&registry),
        ticket_(ticket),
        session_(&session),
        key_(&key),
        settings_(&settings) {}

  SessionRegistry* registry_;
  TicketId ticket_;
  Session* session_;
  const SessionKey* key_;
  const Settings* settings_;
};

}  // namespace cellar::host
