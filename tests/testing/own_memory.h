// How much memory this process has, from /proc/self/status. Not by getrusage(): its peak is
// inherited from whoever started the process.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace cellar {

// Bytes; `field` such as "VmRSS:".
inline int64_t MemoryOf(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoll(line.substr(field.size() + 1)) * 1024;
  }
  return -1;
}

// The growth of a process at its highest, from when this is made.
class PeakGrowth {
 public:
  PeakGrowth() {
    std::ofstream("/proc/self/clear_refs") << "5";  // proc(5): VmHWM is the peak since now
    before_ = MemoryOf("VmRSS:");
  }
  int64_t bytes() const { return MemoryOf("VmHWM:") - before_; }

 private:
  int64_t before_;
};

}  // namespace cellar
