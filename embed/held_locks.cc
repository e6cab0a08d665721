// The collector's lists are CPython's own; its headers want C's atomics, or GCC's builtins.
#define Py_BUILD_CORE 1
#include "embed/held_locks.h"
#undef HAVE_STD_ATOMIC
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>

namespace cellar::embed {
namespace {

void AddLocks(PyGC_Head* list, PyTypeObject* lock, PyTypeObject* rlock, PyObject* found) {
  for (PyGC_Head* head = _PyGCHead_NEXT(list); head != list; head = _PyGCHead_NEXT(head)) {
    auto* object = reinterpret_cast<PyObject*>(head + 1);
    if (Py_IS_TYPE(object, lock) || Py_IS_TYPE(object, rlock)) PyList_Append(found, object);
  }
}

}  // namespace

PyObject* AllLocks() {
  PyObject* found = PyList_New(0);
  PyObject* module = PyImport_ImportModule("_thread");
  if (found == nullptr || module == nullptr) return found;
  PyObject* lock = PyObject_GetAttrString(module, "LockType");
  PyObject* rlock = PyObject_GetAttrString(module, "RLock");
  PyObject_GC_UnTrack(found);  // it is at the end of a list that is walked and grows
  const auto add = [&](gc_generation& generation) {
    AddLocks(&generation.head, reinterpret_cast<PyTypeObject*>(lock),
             reinterpret_cast<PyTypeObject*>(rlock), found);
  };
  _gc_runtime_state& collector = PyInterpreterState_Get()->gc;
  for (gc_generation& generation : collector.generations) add(generation);
  add(collector.permanent_generation);  // where the template froze what it had imported
  PyObject_GC_Track(found);
  Py_DECREF(lock);
  Py_DECREF(rlock);
  Py_DECREF(module);
  return found;
}

}  // namespace cellar::embed
