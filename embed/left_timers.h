// Timers that a cell leaves running: they would raise in a later one, or kill the worker.
#pragma once

#include <Python.h>

namespace cellar::embed {

// Of the audit event that says what ctypes looks up: whether there may be timers of timer_create(2)
// from now on.
void NoteTimers(PyObject* looked_up);

// Stops all of this process, also those of setitimer(2).
void StopTimers();

// Whether any were stopped since this was last asked. A question of its own: the handler of a timer
// that has just gone off raises where StopTimers() returns to.
bool TakeStoppedTimers();

}  // namespace cellar::embed
