// Finding objects by their class, wherever they are.
#pragma once

#include <Python.h>

namespace cellar::embed {

enum class Frozen { kWithout, kWith };  // what the template has made, and each worker has

// The instances of those classes, a tuple, as a list; of each generation the oldest first. Looks at
// each object that the garbage collector knows, without touching any: gc.get_objects() would count
// references, and so copy every page that is shared with another process.
PyObject* LiveObjects(PyObject* classes, Frozen frozen);

}  // namespace cellar::embed
