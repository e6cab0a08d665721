// Where a session is opened when none of its name is open, and with what.
#pragma once

#include <string>
#include <vector>

namespace cellar::host {

struct SessionOpening {
  std::string cwd;                   // empty: where the host is
  std::string interpreter;           // executable or environment; empty: as the host
  std::vector<std::string> notices;  // about the choice, see SessionOptions::notices
};

}  // namespace cellar::host
