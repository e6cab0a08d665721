// The collector's lists are CPython's own; its headers want C's atomics, or GCC's builtins.
#define Py_BUILD_CORE 1
#include "embed/live_objects.h"
#undef HAVE_STD_ATOMIC
#include <internal/pycore_gc.h>
#include <internal/pycore_interp.h>

namespace cellar::embed {
namespace {

bool IsInstance(PyObject* object, PyObject* classes) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(classes); ++i) {
    auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(classes, i));
    if (PyObject_TypeCheck(object, type)) return true;
  }
  return false;
}

void AddInstances(const gc_generation& generation, PyObject* classes, PyObject* found) {
  const PyGC_Head* list = &generation.head;
  for (PyGC_Head* head = _PyGCHead_NEXT(list); head != list; head = _PyGCHead_NEXT(head)) {
    auto* object = reinterpret_cast<PyObject*>(head + 1);
    if (IsInstance(object, classes)) PyList_Append(found, object);
  }
}

}  // namespace

PyObject* LiveObjects(PyObject* classes, Frozen frozen) {
  PyObject* found = PyList_New(0);
  if (found == nullptr) return nullptr;
  PyObject_GC_UnTrack(found);  // it is at the end of a list that is walked and grows
  const _gc_runtime_state& collector = PyInterpreterState_Get()->gc;
  for (const gc_generation& generation : collector.generations) {
    AddInstances(generation, classes, found);
  }
  if (frozen == Frozen::kWith) AddInstances(collector.permanent_generation, classes, found);
  PyObject_GC_Track(found);
  return found;
}

}  // namespace cellar::embed
