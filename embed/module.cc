// The builtin module `_cellar`: what the runtime package may ask of the worker program. Everything
// a cell could do by mistake is checked here; the quick paths (streams, guarded calls) are plain C
// functions.
#include <fcntl.h>
#include <pybind11/embed.h>
#include <pybind11/pybind11.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "embed/audit_hooks.h"
#include "embed/audit_watch.h"
#include "embed/bridge.h"
#include "embed/fork_guard.h"
#include "embed/guarded_coroutine.h"
#include "embed/host_requests.h"
#include "embed/interrupts.h"
#include "embed/left_timers.h"
#include "embed/live_objects.h"
#include "embed/memory_reserve.h"
#include "embed/open_files.h"
#include "embed/reports.h"
#include "embed/streams.h"
#include "embed/wire_enums.h"
#include "embed/worker.h"
#include "host/base/brief_look.h"
#include "host/base/fds.h"
#include "host/wire/keeper_messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

// The next cell often comes at once. The host may have gone to sleep meanwhile: what it takes to
// wake is within this time.
void Linger() {
  constexpr absl::Duration kPauseBetweenCells = absl::Microseconds(150);
  if (Worker().output.shared().host_processor.load() == sched_getcpu()) return;
  py::gil_scoped_release released;
  LookBriefly(kPauseBetweenCells, [] { return Worker().channel.IsReadable(); });
}

// The new number of a descriptor, or the old one where none is free.
int MoveDescriptorHigh(int fd) {
  absl::StatusOr<UniqueFd> high = MoveHigh(UniqueFd(dup(fd)));
  if (!high.ok()) return fd;
  close(fd);
  return high->release();
}

// Two new sockets, connected and not blocking, under the numbers of old ones.
void RenewSocketPair(int first, int second) {
  int fds[2];
  bool ok = socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0;
  if (ok) {
    UniqueFd new_first(fds[0]);
    UniqueFd new_second(fds[1]);
    ok = dup3(new_first.get(), first, O_CLOEXEC) >= 0 &&
         dup3(new_second.get(), second, O_CLOEXEC) >= 0;
  }
  if (ok) return;
  PyErr_SetFromErrno(PyExc_OSError);
  throw py::error_already_set();
}

void Install(const py::object& cell_variable, const py::object& thread_origin,
             const py::object& cancel) {
  InstallStreams(Worker().output, cell_variable.ptr(), thread_origin.ptr());
  InstallInterrupts(Worker().output.shared(), cancel.ptr());
  WatchAuditEvents();
}

py::object WriteBytes(int stream, const py::buffer& data) {
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
  bool ok = WriteOutput(static_cast<wire::StreamId>(stream),
                        {static_cast<const char*>(view.buf), static_cast<size_t>(view.len)});
  Py_ssize_t size = view.len;
  PyBuffer_Release(&view);
  if (!ok) throw py::error_already_set();
  return py::int_(size);
}

bool BeginCellInWorker(uint32_t cell) {
  Worker().output.ForgetFinishedChildren();
  return BeginCell(cell);
}

// run_code(code, globals): as exec and eval, which would ask the audit hooks of cells first.
PyObject* RunCode(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !PyCode_Check(args[0]) || !PyDict_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "run_code(code, globals)");
    return nullptr;
  }
  return PyEval_EvalCode(args[0], args[1], args[1]);
}

// dict_version(dict): another one after each change of it.
PyObject* DictVersion(PyObject*, PyObject* dict) {
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "dict_version(dict)");
    return nullptr;
  }
  return PyLong_FromUnsignedLongLong(reinterpret_cast<PyDictObject*>(dict)->ma_version_tag);
}

bool HasOddKeys(PyObject* dict) {
  PyObject* key;
  for (Py_ssize_t position = 0; PyDict_Next(dict, &position, &key, nullptr);) {
    if (!PyUnicode_CheckExact(key)) return true;
  }
  return false;
}

bool CopyPlain(PyObject* from, PyObject* to) {
  PyObject *key, *value;
  for (Py_ssize_t position = 0; PyDict_Next(from, &position, &key, &value);) {
    if (PyUnicode_CheckExact(key) && PyDict_SetItem(to, key, value) != 0) return false;
  }
  return true;
}

// drop_odd_keys(dict): removes keys that are no plain strings. Whether there were any. They are not
// compared with others: they may do anything then.
PyObject* DropOddKeys(PyObject*, PyObject* dict) {
  if (!PyDict_Check(dict)) {
    PyErr_SetString(PyExc_TypeError, "drop_odd_keys(dict)");
    return nullptr;
  }
  if (!HasOddKeys(dict)) Py_RETURN_FALSE;
  PyObject* all = PyDict_Items(dict);  // so that none ends, and runs code of its own, meanwhile
  PyObject* plain = PyDict_New();
  bool ok = all != nullptr && plain != nullptr && CopyPlain(dict, plain);
  if (ok) {
    PyDict_Clear(dict);
    ok = CopyPlain(plain, dict);
  }
  Py_XDECREF(plain);
  Py_XDECREF(all);
  if (!ok) return nullptr;
  Py_RETURN_TRUE;
}

PyMethodDef kQuickFunctions[] = {
    {"guarded", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(GuardedCall)), METH_FASTCALL,
     nullptr},
    {"nested", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(NestedCall)), METH_FASTCALL,
     nullptr},
    {"bind_stream", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(BindStream)),
     METH_FASTCALL, nullptr},
    {"keep_open_files", KeepOpenFiles, METH_O, nullptr},
    {"hold_memory", HoldMemory, METH_NOARGS, nullptr},
    {"relax_memory", RelaxMemory, METH_NOARGS, nullptr},
    {"dict_version", DictVersion, METH_O, nullptr},
    {"drop_odd_keys", DropOddKeys, METH_O, nullptr},
    {"is_whole_stream", IsWholeStream, METH_O, nullptr},
    {"unaudited", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(UnauditedCall)),
     METH_FASTCALL, nullptr},
    {"run_code", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(RunCode)), METH_FASTCALL,
     nullptr},
    {}};

}  // namespace

PYBIND11_EMBEDDED_MODULE(_cellar, m) {
  m.def("install", &Install);
  m.def("channel_fd", [] { return Worker().channel.fd(); });
  m.def("faults_fd", [] { return Worker().faults.get(); });
  m.def("dump_signal", &wire::DumpSignal);
  m.def("live_objects", [](const py::tuple& classes, bool with_frozen) {
    return py::reinterpret_steal<py::list>(
        LiveObjects(classes.ptr(), with_frozen ? Frozen::kWith : Frozen::kWithout));
  });
  m.def("write", &WriteBytes);
  m.def("expect_other_writers", [] { Worker().output.ExpectOtherWriters(true); });
  m.def("linger", &Linger);
  m.def("stop_timers", &StopTimers);
  m.def("take_stopped_timers", &TakeStoppedTimers);
  m.def("begin_cell", &BeginCellInWorker);
  m.def("end_cell", &EndCell);
  m.def("was_interrupted", &CellWasInterrupted);
  m.def("take_pending_interrupt", &TakePendingInterrupt);
  m.def("restore_interrupts", &RestoreInterrupts);
  m.def("restore_descriptors", [] { return Worker().output.RestoreDescriptors(); });
  m.def("audit_hooks", [] { return py::reinterpret_steal<py::list>(AuditHooks()); });
  m.def("remove_audit_hooks", &RemoveAuditHooks);
  m.def("is_forked_child", &IsForkedChild);
  m.def("break_before", [](uint32_t cell) { Worker().output.shared().broken_before.store(cell); });
  m.def("current_cell", &CurrentCell);
  m.def("cap_memory", &CapMemory);
  m.def("limit_open_files", &LimitOpenFiles);
  m.def("move_high", &MoveDescriptorHigh);
  m.def("renew_socket_pair", &RenewSocketPair);
  m.def("interrupt_thread",
        [](unsigned long thread) { PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt); });
  m.attr("USUAL_OPEN_FILES") = kUsualOpenFiles;
  DefineHostRequests(m);
  DefineReports(m);
  DefineBridge(m);
  DefineWireEnums(m);
  PyModule_AddFunctions(m.ptr(), kQuickFunctions);
  m.attr("TextStream") = py::handle(reinterpret_cast<PyObject*>(TextStreamType()));
  m.attr("GuardedCoroutine") = py::handle(reinterpret_cast<PyObject*>(GuardedCoroutineType()));
}

}  // namespace cellar::embed
