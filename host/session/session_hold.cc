#include "host/session/session_hold.h"

#include <utility>

#include "host/session/registry.h"

namespace cellar::host {

SessionHold::SessionHold(SessionHold&& other) noexcept
    : registry_(std::exchange(other.registry_, nullptr)),
      ticket_(other.ticket_),
      session_(other.session_),
      key_(other.key_),
      settings_(other.settings_) {}

SessionHold::~SessionHold() {
  if (registry_ != nullptr) registry_->Release(ticket_);
}

void SessionHold::TellUnheard(CellObserver* observer) const {
  const bool has_unheard = std::exchange(registry_->HeldBy(ticket_).has_unheard, false);
  if (has_unheard && observer != nullptr) session_->RecountBackground(*observer);
}

}  // namespace cellar::host
