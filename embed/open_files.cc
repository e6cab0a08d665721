#include "embed/open_files.h"

#include <algorithm>
#include <utility>

namespace cellar::embed {
namespace {

bool g_limits_changed = false;  // by a cell, since they were last looked at

}  // namespace

void LimitOpenFiles(uint64_t open_files) {
  rlimit limit;
  if (open_files == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(open_files, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

void ExpectOpenFileLimit() { g_limits_changed = true; }

PyObject* KeepOpenFiles(PyObject*, PyObject* needed) {
  rlimit limit;
  if (!std::exchange(g_limits_changed, false) || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_max >= PyLong_AsUnsignedLong(needed)) {
    Py_RETURN_NONE;
  }
  // A privileged process may raise its limits.
  limit = {.rlim_cur = kUsualOpenFiles, .rlim_max = kUsualOpenFiles};
  return PyBool_FromLong(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

}  // namespace cellar::embed
