#include "host/base/startup_trace.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace cellar {
namespace {

constexpr int kStartTimeField = 20;  // of /proc/self/stat, after the command's name

double SecondsSinceBoot() {
  timespec now;
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// In the kernel's ticks, a hundredth of a second; good enough to see where time goes.
double ProcessStart() {
  std::ifstream file("/proc/self/stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::istringstream fields(text.substr(text.rfind(')') + 1));
  std::string field;
  for (int i = 0; i < kStartTimeField; ++i) fields >> field;
  return std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

bool IsWanted() {
  const char* value = std::getenv("PI_DEBUG_STARTUP");
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

void TraceStartup(std::string_view stage) {
  static const bool wanted = IsWanted();
  if (!wanted) return;
  static const double start = ProcessStart();
  std::fprintf(stderr, "cellar: start %7.1f ms  %.*s\n", (SecondsSinceBoot() - start) * 1e3,
               static_cast<int>(stage.size()), stage.data());
}

}  // namespace cellar
