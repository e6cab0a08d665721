#include "embed/audit_hooks.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace cellar::embed {
namespace {

// How far into the interpreter's state to look, which is several times as large: in 3.11.2 it is
// word 444 of 13,469.
constexpr size_t kWords = 2048;

PyObject** g_hooks = nullptr;  // where the interpreter keeps the list of them, if it is known

bool HoldsOnly(PyObject* list, PyObject* item) {
  const bool may_be_object = reinterpret_cast<uintptr_t>(list) % alignof(PyObject) == 0;
  return list != nullptr && may_be_object && PyList_CheckExact(list) &&
         PyList_GET_SIZE(list) == 1 && PyList_GET_ITEM(list, 0) == item;
}

// Without hooks for as long as it lives.
class UnauditedScope {
 public:
  UnauditedScope() {
    if (g_hooks != nullptr) hooks_ = std::exchange(*g_hooks, nullptr);
  }
  ~UnauditedScope() {
    if (hooks_ == nullptr) return;
    PyObject* added = std::exchange(*g_hooks, hooks_);  // by another thread
    if (added == nullptr) return;
    PyList_SetSlice(hooks_, PyList_GET_SIZE(hooks_), PyList_GET_SIZE(hooks_), added);
    Py_DECREF(added);
  }

 private:
  PyObject* hooks_ = nullptr;
};

}  // namespace

// The state's layout is private. The list is made with the first hook, so it is the word that was
// empty before.
void FindAuditHooks() {
  auto** state = reinterpret_cast<PyObject**>(PyInterpreterState_Get());
  std::array<PyObject*, kWords> before;
  std::copy_n(state, kWords, before.begin());
  PyObject* added = PyObject_CallOneArg(PySys_GetObject("addaudithook"), Py_None);
  if (added == nullptr) return PyErr_Clear();
  Py_DECREF(added);
  for (size_t word = 0; word < kWords; ++word) {
    if (before[word] != nullptr || !HoldsOnly(state[word], Py_None)) continue;
    g_hooks = state + word;
    Py_CLEAR(*g_hooks);
    return;
  }
}

PyObject* UnauditedCall(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "unaudited(function, *args)");
    return nullptr;
  }
  UnauditedScope scope;
  return PyObject_Vectorcall(args[0], args + 1, static_cast<size_t>(count - 1), nullptr);
}

PyObject* AuditHooks() {
  if (g_hooks == nullptr || *g_hooks == nullptr) return PyList_New(0);
  return PySequence_List(*g_hooks);
}

void RemoveAuditHooks() {
  if (g_hooks != nullptr) Py_CLEAR(*g_hooks);
}

}  // namespace cellar::embed
