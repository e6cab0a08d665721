// The builtin module `_cellar`: what the runtime package may ask of the worker program. Everything
// a cell could do by mistake is checked here; the quick paths (streams, guarded calls) are plain C
// functions.
#include <pybind11/embed.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "embed/audit_hooks.h"
#include "embed/bridge.h"
#include "embed/fork_guard.h"
#include "embed/guarded_coroutine.h"
#include "embed/interrupts.h"
#include "embed/left_timers.h"
#include "embed/live_objects.h"
#include "embed/memory_reserve.h"
#include "embed/snapshot.h"
#include "embed/streams.h"
#include "embed/wire_enums.h"
#include "embed/worker.h"
#include "host/base/brief_look.h"
#include "host/base/fds.h"
#include "host/wire/bridge_messages.h"
#include "host/wire/channel_messages.h"
#include "host/wire/copy_messages.h"
#include "host/wire/keeper_messages.h"

namespace py = pybind11;

namespace cellar::embed {
namespace {

std::optional<CopyRequest> g_copy_request;  // received, and not yet carried out
std::vector<std::string> g_not_carried;     // into this copy, which has not said hello yet

template <typename Message>
void Send(const Message& message) {
  if (IsForkedChild()) {
    throw std::runtime_error(
        "a process forked by a cell cannot use the session; print, or return a value to the cell");
  }
  std::string frame = wire::MessageFrame(message);
  if (frame.size() > wire::kMaxFramePayload) {
    // The host would take it for garbage.
    throw py::value_error(std::to_string(frame.size() >> 20) +
                          " MiB are more than a message to the host can hold");
  }
  py::gil_scoped_release released;
  Worker().channel.Send(frame);
}

// Cannot fail: a name that a client made up may be no UTF-8.
py::object Text(const std::string& text) {
  return py::reinterpret_steal<py::object>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

// As (name, value or None).
py::list EntriesOf(const std::vector<wire::EnvironmentEntry>& environment) {
  py::list entries;
  for (const wire::EnvironmentEntry& entry : environment) {
    entries.append(py::make_tuple(py::bytes(entry.name), entry.value
                                                             ? py::object(py::bytes(*entry.value))
                                                             : py::object(py::none())));
  }
  return entries;
}

// Nothing when it cannot be read, by a mistake of the host: one that was left out would be waited
// for, so this worker has to end.
template <typename Message>
std::optional<Message> Read(const std::string& payload) {
  std::optional<Message> message = wire::Decode<Message>(payload);
  if (!message) Send(wire::Hello{.error = "was sent a message that it cannot read"});
  return message;
}

// Frames as (kind, fields…) for the runtime package.
py::list Receive() {
  py::list requests;
  // What has come is the worker's.
  if (IsForkedChild()) {
    requests.append(py::make_tuple("forked_child"));
    return requests;
  }
  for (Channel::Message& message : Worker().channel.Receive()) {
    switch (static_cast<wire::MessageType>(message.type)) {
      case wire::MessageType::kExecute:
        if (auto m = Read<wire::Execute>(message.payload)) {
          requests.append(py::make_tuple("execute", m->cell, py::bytes(m->code)));
        }
        break;
      case wire::MessageType::kSet:
        if (auto m = Read<wire::Set>(message.payload)) {
          requests.append(py::make_tuple("set", m->request, Text(m->name),
                                         m->kind == wire::ValueKind::kJson, py::bytes(m->data)));
        }
        break;
      case wire::MessageType::kGet:
        if (auto m = Read<wire::Get>(message.payload)) {
          requests.append(py::make_tuple("get", m->request, Text(m->name)));
        }
        break;
      case wire::MessageType::kQuery:
        if (auto m = Read<wire::Query>(message.payload)) {
          requests.append(py::make_tuple("query", m->request, static_cast<int>(m->kind),
                                         py::bytes(m->text), m->cursor, m->with_source));
        }
        break;
      case wire::MessageType::kSetup:
        if (auto m = Read<wire::Setup>(message.payload)) {
          py::list path;
          for (const std::string& item : m->sys_path) path.append(py::bytes(item));
          requests.append(py::make_tuple("setup", py::bytes(m->cwd), EntriesOf(m->environment),
                                         path, m->memory_cap, m->open_files));
        }
        break;
      case wire::MessageType::kEnter:
        if (auto m = Read<wire::Enter>(message.payload)) {
          requests.append(py::make_tuple("enter", py::bytes(m->cwd), EntriesOf(m->environment)));
        }
        break;
      case wire::MessageType::kBridgeOffer:
        if (auto m = Read<wire::BridgeOffer>(message.payload)) ReceiveOffer(*std::move(m));
        break;
      case wire::MessageType::kExit:
        requests.append(py::make_tuple("exit"));
        break;
      case wire::MessageType::kCopy:
        if (auto m = Read<wire::Copy>(message.payload)) {
          if (message.fds.size() != wire::CopyFdCount(m->kind)) {
            Send(wire::Copied{.request = m->request, .error = wire::kNoDescriptors});
            break;
          }
          g_copy_request = CopyRequest{.message = *m, .fds = std::move(message.fds)};
          requests.append(py::make_tuple("copy"));
        }
        break;
      default:
        break;
    }
  }
  return requests;
}

void SendDisplay(int kind, uint32_t cell, const py::list& entries, const py::bytes& metadata,
                 const std::string& display_id) {
  wire::Display display = {.cell = cell,
                           .position = Worker().output.CurrentPosition(),
                           .kind = static_cast<wire::DisplayKind>(kind),
                           .metadata = metadata,
                           .display_id = display_id};
  for (const py::handle& item : entries) {
    if (display.data.size() == wire::kMaxListItems) break;
    auto [mime, mime_kind, data] = item.cast<std::tuple<std::string, int, py::bytes>>();
    display.data.push_back({mime, static_cast<wire::MimeKind>(mime_kind), data});
  }
  Send(display);
}

void SendError(uint32_t cell, const py::bytes& ename, const py::bytes& evalue,
               const py::bytes& traceback, std::optional<int32_t> exit_code) {
  Send(wire::Error{.cell = cell,
                   .position = Worker().output.CurrentPosition(),
                   .ename = ename,
                   .evalue = evalue,
                   .traceback = traceback,
                   .exit_code = exit_code});
}

void SendDone(uint32_t cell, int status, bool stdin_requested) {
  std::fflush(stdout);
  Worker().output.shared().worker_processor.store(sched_getcpu());
  Send(wire::Done{.cell = cell,
                  .position = Worker().output.CurrentPosition(),
                  .status = static_cast<wire::DoneStatus>(status),
                  .stdin_requested = stdin_requested});
}

// The next cell often comes at once. The host may have gone to sleep meanwhile: what it takes to
// wake is within this time.
void Linger() {
  constexpr absl::Duration kPauseBetweenCells = absl::Microseconds(150);
  if (Worker().output.shared().host_processor.load() == sched_getcpu()) return;
  py::gil_scoped_release released;
  LookBriefly(kPauseBetweenCells, [] { return Worker().channel.IsReadable(); });
}

void LimitOpenFiles(uint64_t open_files) {
  rlimit limit;
  if (open_files == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(open_files, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

constexpr rlim_t kUsualOpenFiles = 1024;
bool g_limits_changed = false;  // by a cell, since they were last looked at

// keep_open_files(needed): None; or, where a cell has left fewer for good, whether there are enough
// again. A privileged process may raise its limits.
PyObject* KeepOpenFiles(PyObject*, PyObject* needed) {
  rlimit limit;
  if (!std::exchange(g_limits_changed, false) || getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
      limit.rlim_max >= PyLong_AsUnsignedLong(needed)) {
    Py_RETURN_NONE;
  }
  limit = {.rlim_cur = kUsualOpenFiles, .rlim_max = kUsualOpenFiles};
  return PyBool_FromLong(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

// The new number of a descriptor, or the old one where none is free.
int MoveDescriptorHigh(int fd) {
  absl::StatusOr<UniqueFd> high = MoveHigh(UniqueFd(dup(fd)));
  if (!high.ok()) return fd;
  close(fd);
  return high->release();
}

CopyRequest TakeCopyRequest() {
  std::optional<CopyRequest> request = std::exchange(g_copy_request, std::nullopt);
  if (!request) throw std::runtime_error("the host has not asked for a copy");
  return *std::move(request);
}

void RefuseCopy(const std::string& reason) {
  CopyRequest request = TakeCopyRequest();
  Send(wire::Copied{.request = request.message.request, .error = reason});
}

// prepare_copy(function): what it returns; None when that took too long, and there is no copy to be
// made any more.
py::object PrepareCopyInWorker(const py::function& function) {
  CopyRequest request = TakeCopyRequest();
  PyObject* prepared = nullptr;
  if (!PrepareCopy(request, [&] { prepared = PyObject_CallNoArgs(function.ptr()); })) {
    PyErr_Clear();
    Py_XDECREF(prepared);
    return py::none();
  }
  g_copy_request = std::move(request);
  if (prepared == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(prepared);
}

// In a copy that is to run: whether it is to draw other random numbers, and whether the original
// had children. None in this process.
std::optional<std::pair<bool, bool>> CopyWorker(std::vector<std::string> threads,
                                                int python_threads, std::set<int> fds) {
  CopyRequest request = TakeCopyRequest();
  std::optional<Awakening> awake = MakeCopy(
      std::move(request),
      {.threads = std::move(threads), .python_threads = python_threads, .own_fds = std::move(fds)});
  if (!awake) return std::nullopt;
  g_not_carried = std::move(awake->not_carried);
  return std::pair(awake->reseed, awake->had_children);
}

// Whether a file that is opened under this name, or number, may be what fd 1 or 2 is.
bool MayBeOutput(PyObject* file) {
  if (PyLong_Check(file)) {
    const long fd = PyLong_AsLong(file);
    if (fd == -1) PyErr_Clear();
    return fd == STDOUT_FILENO || fd == STDERR_FILENO;
  }
  const char* path = PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : nullptr;
  if (path == nullptr) {
    PyErr_Clear();
    return false;
  }
  const std::string_view name = path;
  return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") ||
         name.starts_with("/proc/self/fd/");
}

// Notices when someone else may begin to write to fd 1 and 2, when limits may change, and when
// there may be timers. A cell may raise any event itself, with whatever it likes.
int AuditHook(const char* event, PyObject* args, void*) {
  if (IsForkedChild()) return 0;
  switch (event[0]) {
    case 's':
      if (std::strcmp(event, "subprocess.Popen") == 0) Worker().output.ExpectOtherWriters(false);
      break;
    case 'o':
      if (std::strcmp(event, "os.fork") == 0 || std::strcmp(event, "os.system") == 0 ||
          std::strcmp(event, "os.posix_spawn") == 0 || std::strcmp(event, "os.forkpty") == 0) {
        Worker().output.ExpectOtherWriters(false);
      } else if (std::strcmp(event, "open") == 0 && PyTuple_GET_SIZE(args) > 0 &&
                 MayBeOutput(PyTuple_GET_ITEM(args, 0))) {
        Worker().output.ExpectOtherWriters(true);
      }
      break;
    case 'r':
      if (std::strcmp(event, "resource.setrlimit") == 0 ||
          std::strcmp(event, "resource.prlimit") == 0) {
        g_limits_changed = true;
        ExpectMemoryLimit();
      }
      break;
    case 'c':
      if (std::strncmp(event, "ctypes.dl", 9) == 0) {
        Worker().output.ExpectOtherWriters(true);
        NoteTimers(args);
      }
      break;
  }
  return 0;
}

void Install(const py::object& cell_variable, const py::object& thread_origin,
             const py::object& cancel) {
  InstallStreams(Worker().output, cell_variable.ptr(), thread_origin.ptr());
  InstallInterrupts(Worker().output.shared(), cancel.ptr());
  PySys_AddAuditHook(AuditHook, nullptr);
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
  m.def("receive", &Receive);
  m.def("send_hello", [](const std::string& error) {
    Send(wire::Hello{.error = error, .not_carried = std::exchange(g_not_carried, {})});
  });
  m.def("prepare_copy", &PrepareCopyInWorker);
  m.def("copy", &CopyWorker);
  m.def("refuse_copy", &RefuseCopy);
  m.def("live_objects", [](const py::tuple& classes, bool with_frozen) {
    return py::reinterpret_steal<py::list>(
        LiveObjects(classes.ptr(), with_frozen ? Frozen::kWith : Frozen::kWithout));
  });
  m.def("send_display", &SendDisplay);
  m.def("send_error", &SendError);
  m.def("send_done", &SendDone);
  m.def("send_notice", [](uint32_t cell, const std::string& text) {
    Send(wire::Notice{.cell = cell, .text = text});
  });
  m.def("send_value", [](uint32_t request, int kind, const py::bytes& data) {
    Send(wire::Value{.request = request, .kind = static_cast<wire::ValueKind>(kind), .data = data});
  });
  m.def("send_query_answer", [](uint32_t request, bool ok, const py::bytes& data) {
    Send(wire::QueryAnswer{.request = request, .ok = ok, .data = data});
  });
  m.def("write", &WriteBytes);
  m.def("expect_other_writers", [] { Worker().output.ExpectOtherWriters(true); });
  m.def("linger", &Linger);
  m.def("stop_timers", &StopTimers);
  m.def("begin_cell", &BeginCellInWorker);
  m.def("end_cell", &EndCell);
  m.def("was_interrupted", &CellWasInterrupted);
  m.def("take_pending_interrupt", &TakePendingInterrupt);
  m.def("restore_interrupts", &RestoreInterrupts);
  m.def("restore_descriptors", [] { return Worker().output.RestoreDescriptors(); });
  m.def("audit_hooks", [] { return py::reinterpret_steal<py::list>(AuditHooks()); });
  m.def("remove_audit_hooks", &RemoveAuditHooks);
  m.def("is_forked_child", &IsForkedChild);
  m.def("current_cell", &CurrentCell);
  m.def("cap_memory", &CapMemory);
  m.def("limit_open_files", &LimitOpenFiles);
  m.def("move_high", &MoveDescriptorHigh);
  m.def("interrupt_thread",
        [](unsigned long thread) { PyThreadState_SetAsyncExc(thread, PyExc_KeyboardInterrupt); });
  DefineBridge(m);
  DefineWireEnums(m);
  PyModule_AddFunctions(m.ptr(), kQuickFunctions);
  m.attr("TextStream") = py::handle(reinterpret_cast<PyObject*>(TextStreamType()));
  m.attr("GuardedCoroutine") = py::handle(reinterpret_cast<PyObject*>(GuardedCoroutineType()));
}

}  // namespace cellar::embed
