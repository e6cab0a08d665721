// How many files a worker may have open: what the session gives it, and enough for the runtime when
// a cell has left fewer. On the main thread, under the GIL.
#pragma once

#include <Python.h>
#include <sys/resource.h>

#include <cstdint>

namespace cellar::embed {

// What a process may usually open, and the runtime can do with.
inline constexpr rlim_t kUsualOpenFiles = 1024;

// 0: as it is.
void LimitOpenFiles(uint64_t open_files);
// Some code is about to set a limit.
void ExpectOpenFileLimit();

// keep_open_files(needed): None; or, where a cell has left fewer for good, whether there are enough
// again.
PyObject* KeepOpenFiles(PyObject*, PyObject* needed);

}  // namespace cellar::embed
