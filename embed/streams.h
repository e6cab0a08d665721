// sys.stdout and sys.stderr of a worker: a subclass of io.TextIOWrapper whose write() goes straight
// into the ring. Plain C API and no pybind11 here: this is the path of every print.
#pragma once

#include <Python.h>

#include <string_view>

#include "embed/output.h"

namespace cellar::embed {

// Called once. `cell_variable` is the contextvars.ContextVar with the number of the
// cell that the running code belongs to; `thread_origin()` gives that number for a thread without a
// context.
void InstallStreams(Output& output, PyObject* cell_variable, PyObject* thread_origin);

// The type TextStream(buffer, **as TextIOWrapper); bind_stream(stream, 1 or 2) makes it quick.
PyTypeObject* TextStreamType();
PyObject* BindStream(PyObject* self, PyObject* const* args, Py_ssize_t count);

// is_whole_stream(stream): whether one that was bound is open, and its encoding and its buffer are
// as they were.
PyObject* IsWholeStream(PyObject* self, PyObject* stream);

// Writes for the code that is running now; waits for room without the GIL. False with an exception
// set when a signal handler raised meanwhile.
bool WriteOutput(wire::StreamId stream, std::string_view text);

// The cell that the running code belongs to; of a thread that works for all of them, whichever
// runs. 0 when none does.
uint32_t CurrentCell();

}  // namespace cellar::embed
