// The type of awaitable in which a cell that awaits is run.
#pragma once

#include <Python.h>

namespace cellar::embed {

// GuardedCoroutine(coroutine): an awaitable whose every step is run as the cell's own code.
PyTypeObject* GuardedCoroutineType();

}  // namespace cellar::embed
