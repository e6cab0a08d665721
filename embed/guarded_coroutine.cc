#include "embed/guarded_coroutine.h"

#include "embed/interrupts.h"

namespace cellar::embed {
namespace {

struct GuardedCoroutine {
  PyObject_HEAD PyObject* coroutine;
};

PyObject* NewGuarded(PyTypeObject* type, PyObject* args, PyObject*) {
  PyObject* coroutine;
  if (!PyArg_ParseTuple(args, "O", &coroutine)) return nullptr;
  auto* self = reinterpret_cast<GuardedCoroutine*>(type->tp_alloc(type, 0));
  if (self != nullptr) self->coroutine = Py_NewRef(coroutine);
  return reinterpret_cast<PyObject*>(self);
}

void DeallocateGuarded(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_CLEAR(reinterpret_cast<GuardedCoroutine*>(self)->coroutine);
  type->tp_free(self);
  Py_DECREF(type);
}

PySendResult SendToGuarded(PyObject* self, PyObject* value, PyObject** result) {
  GuardScope guard;
  PyObject* coroutine = reinterpret_cast<GuardedCoroutine*>(self)->coroutine;
  if (!TakePendingInterrupt()) return PyIter_Send(coroutine, value, result);
  // Raised inside, so that the cell can clean up.
  *result = PyObject_CallMethod(coroutine, "throw", "O", PyExc_KeyboardInterrupt);
  if (*result != nullptr) return PYGEN_NEXT;
  return _PyGen_FetchStopIterationValue(result) == 0 ? PYGEN_RETURN : PYGEN_ERROR;
}

PyObject* NextOfGuarded(PyObject* self) {
  PyObject* result = nullptr;
  switch (SendToGuarded(self, Py_None, &result)) {
    case PYGEN_NEXT:
      return result;
    case PYGEN_RETURN: {
      PyObject* stop = PyObject_CallOneArg(PyExc_StopIteration, result);
      Py_DECREF(result);
      if (stop != nullptr) PyErr_SetObject(PyExc_StopIteration, stop);
      Py_XDECREF(stop);
      return nullptr;
    }
    case PYGEN_ERROR:
      break;
  }
  return nullptr;
}

PyObject* CallOnCoroutine(PyObject* self, const char* method, PyObject* args) {
  PyObject* callable =
      PyObject_GetAttrString(reinterpret_cast<GuardedCoroutine*>(self)->coroutine, method);
  if (callable == nullptr) return nullptr;
  GuardScope guard;
  PyObject* result = PyObject_Call(callable, args, nullptr);
  Py_DECREF(callable);
  return result;
}

PyObject* ThrowIntoGuarded(PyObject* self, PyObject* args) {
  return CallOnCoroutine(self, "throw", args);
}
PyObject* CloseGuarded(PyObject* self, PyObject* args) {
  return CallOnCoroutine(self, "close", args);
}
PyObject* AwaitGuarded(PyObject* self) { return Py_NewRef(self); }

PyMethodDef kGuardedMethods[] = {{"throw", ThrowIntoGuarded, METH_VARARGS, nullptr},
                                 {"close", CloseGuarded, METH_VARARGS, nullptr},
                                 {}};
PyType_Slot kGuardedSlots[] = {{Py_tp_new, reinterpret_cast<void*>(NewGuarded)},
                               {Py_tp_dealloc, reinterpret_cast<void*>(DeallocateGuarded)},
                               {Py_tp_methods, kGuardedMethods},
                               {Py_tp_iter, reinterpret_cast<void*>(AwaitGuarded)},
                               {Py_tp_iternext, reinterpret_cast<void*>(NextOfGuarded)},
                               {Py_am_await, reinterpret_cast<void*>(AwaitGuarded)},
                               {Py_am_send, reinterpret_cast<void*>(SendToGuarded)},
                               {}};
PyType_Spec kGuardedSpec = {"_cellar.GuardedCoroutine", sizeof(GuardedCoroutine), 0,
                            Py_TPFLAGS_DEFAULT, kGuardedSlots};

}  // namespace

PyTypeObject* GuardedCoroutineType() {
  static auto* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&kGuardedSpec));
  return type;
}

}  // namespace cellar::embed
