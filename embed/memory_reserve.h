// Memory for the runtime, when a cell has used all that a limit allows: the session's cap, or a
// limit that a cell has set. While the code of a cell runs, a mapping that nobody writes to counts
// for these limits; it is given back before the runtime needs memory. It takes address space only.
//
// On the main thread, under the GIL. Where no limit is known the mapping just stays: no system call
// for a cell.
#pragma once

#include <Python.h>

#include <cstdint>

namespace cellar::embed {

// What cells may use, in bytes; 0: no cap. Once, in a worker.
void CapMemory(uint64_t cap);
// Some code is about to set a limit.
void ExpectMemoryLimit();

// hold_memory(): before the code of a cell runs.
PyObject* HoldMemory(PyObject*, PyObject*);
// relax_memory(): when it is through. Needs no memory itself.
PyObject* RelaxMemory(PyObject*, PyObject*);
// The same, when an error has just left the code of a cell and memory may be why.
void RelaxMemoryAfterError();

}  // namespace cellar::embed
