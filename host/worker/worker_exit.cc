#include "host/worker/worker_exit.h"

#include <csignal>
#include <cstring>
#include <sstream>

namespace cellar::host {
namespace {

std::string SignalName(int signal) {
  if (signal >= SIGRTMIN) return "SIGRTMIN+" + std::to_string(signal - SIGRTMIN);
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace

std::string WorkerExit::Describe() const {
  std::string text;
  if (signal) {
    text = "died of " + SignalName(*signal);
  } else if (exit_code) {
    text = "exited with code " + std::to_string(*exit_code);
  }
  if (reason.empty()) return text.empty() ? "ended" : text;
  return text.empty() ? reason : text + " (" + reason + ")";
}

std::string CleanPythonStack(const std::string& dump) {
  std::istringstream lines(dump);
  std::string clean;
  bool below_the_cell = false;  // the runner's frames, and the event loop's under them
  for (std::string line; std::getline(lines, line);) {
    // The names of all extension modules: a screenful that says nothing about this crash.
    if (line.starts_with("Extension modules: ")) continue;
    bool is_frame = line.starts_with("  File ");
    if (!is_frame) below_the_cell = false;
    if (line.starts_with("  File \"<frozen cellar_")) below_the_cell = true;
    if (below_the_cell) continue;
    clean += line;
    clean += '\n';
  }
  while (clean.ends_with("\n\n")) clean.pop_back();
  return clean;
}

}  // namespace cellar::host
