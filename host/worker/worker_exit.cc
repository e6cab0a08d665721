#include "host/worker/worker_exit.h"

#include <csignal>
#include <cstring>

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

}  // namespace cellar::host
