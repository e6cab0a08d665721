// Control messages between host and template.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/wire/message.h"

namespace cellar::wire {

// Where the worker program finds its control socket and a pidfd of its host.
inline constexpr int kControlFd = 3;
inline constexpr int kHostAliveFd = 4;

struct Start {
  static constexpr MessageType kType = MessageType::kStart;
  uint32_t version = kProtocolVersion;
  std::string executable;  // what sys.executable will be; decides prefix and site-packages
  std::string home;        // PYTHONHOME, for prefixes without a pyvenv.cfg; or empty
  // Put in front of LD_LIBRARY_PATH when the program was started, so that the libpython there is
  // used; or empty.
  std::string library_directory;
  // Of an installation that has no libpython: added to the worker's own Python. Or empty.
  std::string site_packages;
  std::string prefix;  // what sys.prefix will be then
  std::vector<std::string> preload;
  std::vector<std::string> warnings;  // of an earlier attempt, passed on in Ready
  CELLAR_WIRE_FIELDS(self.version, self.executable, self.home, self.library_directory,
                     self.site_packages, self.prefix, self.preload, self.warnings)
};

struct Ready {
  static constexpr MessageType kType = MessageType::kReady;
  uint32_t version = kProtocolVersion;
  std::string python_version;
  std::string libpython;
  std::string prefix;
  std::vector<std::string> warnings;  // e.g. a preload that failed
  CELLAR_WIRE_FIELDS(self.version, self.python_version, self.libpython, self.prefix, self.warnings)
};

struct Failed {
  static constexpr MessageType kType = MessageType::kFailed;
  uint32_t version = kProtocolVersion;
  std::string reason;
  CELLAR_WIRE_FIELDS(self.version, self.reason)
};

// Carries the descriptors that a worker is born with, up to the keeper's. Answered on the keeper's
// socket by KeeperHello or ForkFailed.
struct Fork {
  static constexpr MessageType kType = MessageType::kFork;
  CELLAR_WIRE_FIELDS()
};

}  // namespace cellar::wire
