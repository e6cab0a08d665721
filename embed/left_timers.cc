#include "embed/left_timers.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace cellar::embed {
namespace {

bool g_has_timer_create = false;  // a cell has looked timer_create(2) up
bool g_stopped_any = false;

// Those of POSIX, of which only the kernel knows all. Whether there were any.
bool DeleteTimers() {
  if (!g_has_timer_create) return false;
  std::ifstream timers("/proc/self/timers");
  std::vector<int> ids;
  int id;
  for (std::string line; std::getline(timers, line);) {
    if (std::sscanf(line.c_str(), "ID: %d", &id) == 1) ids.push_back(id);
  }
  for (int each : ids) syscall(SYS_timer_delete, each);
  return !ids.empty();
}

}  // namespace

void NoteTimers(PyObject* looked_up) {
  g_has_timer_create |=
      PyTuple_Check(looked_up) && PyTuple_GET_SIZE(looked_up) == 2 &&
      PyUnicode_Check(PyTuple_GET_ITEM(looked_up, 1)) &&
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(looked_up, 1), "timer_create") == 0;
}

void StopTimers() {
  g_stopped_any |= DeleteTimers();
  for (int timer : {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF}) {
    const itimerval stopped = {};
    itimerval before = {};
    setitimer(timer, &stopped, &before);
    // One that repeats has no time left between going off and its signal.
    g_stopped_any |= timerisset(&before.it_value) || timerisset(&before.it_interval);
  }
}

bool TakeStoppedTimers() { return std::exchange(g_stopped_any, false); }

}  // namespace cellar::embed
