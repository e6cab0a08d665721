// A process as the kernel shows it.
#pragma once

#include <sys/types.h>

#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace cellar::testing {

struct ProcessStat {
  char state = '\0';  // as ps has it: 'S' sleeps, 'Z' is dead and not collected
  pid_t parent = 0;
};

// Nothing when there is no such process.
inline std::optional<ProcessStat> StatOf(pid_t pid) {
  std::string text;
  std::getline(std::ifstream("/proc/" + std::to_string(pid) + "/stat"), text, '\0');
  // The command's name stands in parentheses and may itself contain any character.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  ProcessStat stat;
  std::istringstream(text.substr(name_end + 1)) >> stat.state >> stat.parent;
  return stat;
}

inline bool IsAsleep(pid_t pid) {
  const std::optional<ProcessStat> stat = StatOf(pid);
  return stat && stat->state == 'S';
}

}  // namespace cellar::testing
