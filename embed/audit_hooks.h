// The hooks that cells add by sys.addaudithook. Python has no way to remove them, and one that
// raises or hangs when something is compiled would keep every later cell from running.
#pragma once

#include <Python.h>

namespace cellar::embed {

// Called once, when the interpreter has started: learns where it keeps them.
void FindAuditHooks();

// unaudited(function, *args): calls it; the hooks do not hear of what it does.
PyObject* UnauditedCall(PyObject* self, PyObject* const* args, Py_ssize_t count);

// A new list of them.
PyObject* AuditHooks();
void RemoveAuditHooks();

}  // namespace cellar::embed
