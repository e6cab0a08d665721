// Who hears what happens on the sessions of a registry.
#pragma once

#include <string>
#include <string_view>

#include "host/output/stream.h"
#include "host/session/session_query.h"
#include "host/wire/display.h"

namespace cellar::host {

// Hears what happens on sessions that nobody has asked for. Called on the loop's thread.
class SessionListener {
 public:
  virtual ~SessionListener() = default;
  // Printed while no cell runs, by what earlier cells started. `holder` is who has the session, or
  // 0. It is kept until somebody hears it.
  virtual bool HearsBackground(const std::string& /*id*/, TicketId /*holder*/) const {
    return false;
  }
  virtual void OnBackgroundText(const std::string& /*id*/, TicketId /*holder*/, Stream,
                                std::string_view /*text*/) {}
  virtual void OnBackgroundDisplay(const std::string& /*id*/, TicketId /*holder*/,
                                   const wire::Display&) {}
  // State can be expected of it from now on: cells are going to run, or it has branched off.
  virtual void OnUsed(const std::string& /*id*/) {}
  virtual void OnClosing(const std::string& /*id*/) {}
  // Somebody looks at the session: it is not closed for being idle, or without an owner.
  virtual bool IsWatched(const std::string& /*id*/) const { return false; }
};

}  // namespace cellar::host
