#include "embed/audit_watch.h"

#include <Python.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "embed/fork_guard.h"
#include "embed/left_timers.h"
#include "embed/memory_reserve.h"
#include "embed/open_files.h"
#include "embed/worker.h"

namespace cellar::embed {
namespace {

// Whether a file that is opened under this name, or number, may be what fd 1 or 2 is.
bool MayBeOutput(PyObject* file) {
  if (PyLong_Check(file)) {
    const long fd = PyLong_AsLong(file);
    if (fd == -1) PyErr_Clear();
    return fd == STDOUT_FILENO || fd == STDERR_FILENO;
  }
  const char* path = PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : nullptr;
  if (path == nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string_view name = path;
  return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/self/fd/");
}

// A cell may raise any event itself, with whatever it likes.
int AuditHook(const char* event, PyObject* args, void*) {
  if (IsForkedChild()) return 0;
  switch (event[0]) {
    case 's':
      if (std::strcmp(event, "subprocess.Popen") == 0) Worker().output.ExpectOtherWriters(false);
      break;
    case 'o':
      if (std::strcmp(event, "os.fork") == 0 || std::strcmp(event, "os.system") == 0 ||
          std::strcmp(event, "os.posix_spawn") == 0 || std::strcmp(event, "os.forkpty") == 0) {
        Worker().output.ExpectOtherWriters(false);
      } else if (std::strcmp(event, "open") == 0 && PyTuple_GET_SIZE(args) > 0 &&
                 MayBeOutput(PyTuple_GET_ITEM(args, 0))) {
        Worker().output.ExpectOtherWriters(true);
      }
      break;
    case 'r':
      if (std::strcmp(event, "resource.setrlimit") == 0 ||
          std::strcmp(event, "resource.prlimit") == 0) {
        ExpectOpenFileLimit();
        ExpectMemoryLimit();
      }
      break;
    case 'c':
      if (std::strncmp(event, "ctypes.dl", 9) == 0) {
        Worker().output.ExpectOtherWriters(true);
        NoteTimers(args);
      }
      break;
  }
  return 0;
}

}  // namespace

void WatchAuditEvents() { PySys_AddAuditHook(AuditHook, nullptr); }

}  // namespace cellar::embed
