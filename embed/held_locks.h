// The locks of threads that did not come along into a copy.
#pragma once

#include <Python.h>

namespace cellar::embed {

// Every threading.Lock and RLock there is, as a list. Looks at each object that the garbage
// collector knows, without touching any: gc.get_objects() would count references, and so copy every
// page that is shared with the original.
PyObject* AllLocks();

}  // namespace cellar::embed
