// Timers that a cell leaves running: they would raise in a later one, or kill the worker.
#pragma once

#include <Python.h>

namespace cellar::embed {

// Of the audit event that says what ctypes looks up: whether there may be timers of timer_create(2)
// from now on.
void NoteTimers(PyObject* looked_up);

// Stops all of this process, also those of setitimer(2). Whether there were any.
bool StopTimers();

}  // namespace cellar::embed
