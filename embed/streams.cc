#include "embed/streams.h"

#include "embed/fork_guard.h"
#include "embed/interrupts.h"
#include "embed/worker.h"
#include "host/wire/channel_messages.h"

namespace cellar::embed {
namespace {

// The doorbell has rung before each of them.
constexpr int kUnheardWaits = 3;

Output* g_output = nullptr;
PyObject* g_cell_variable = nullptr;
PyObject* g_thread_origin = nullptr;
PyTypeObject* g_text_io = nullptr;  // io.TextIOWrapper
PyObject* g_base_write = nullptr;   // io.TextIOWrapper.write and friends
PyObject* g_base_close = nullptr;
PyObject* g_base_detach = nullptr;
PyObject* g_base_reconfigure = nullptr;
PyTypeObject* g_stream_type = nullptr;

// Stands behind the fields of TextIOWrapper, whose layout is private.
struct StreamState {
  wire::StreamId stream;
  bool quick;       // open, and encoding to UTF-8 with plain newlines
  bool translates;  // newlines
  // As they were when the stream was bound: not owned, and only compared.
  PyObject* buffer;
  PyTypeObject* buffer_type;
};

StreamState& StateOf(PyObject* self) {
  return *reinterpret_cast<StreamState*>(reinterpret_cast<char*>(self) + g_text_io->tp_basicsize);
}

// Threads are started without a context; what started them is looked up once.
uint32_t ThreadOrigin() {
  thread_local int64_t origin = -1;
  if (origin < 0) {
    PyObject* cell = PyObject_CallNoArgs(g_thread_origin);
    origin = cell != nullptr ? PyLong_AsLong(cell) : 0;
    Py_XDECREF(cell);
    if (PyErr_Occurred()) PyErr_Clear();
    if (origin < 0) origin = 0;
  }
  return static_cast<uint32_t>(origin);
}

PyObject* StreamWrite(PyObject* self, PyObject* text) {
  StreamState& state = StateOf(self);
  if (state.quick && PyUnicode_Check(text)) {
    Py_ssize_t size;
    const char* utf8 = PyUnicode_AsUTF8AndSize(text, &size);
    if (utf8 != nullptr) {
      if (!WriteOutput(state.stream, {utf8, static_cast<size_t>(size)})) return nullptr;
      return PyLong_FromSsize_t(PyUnicode_GET_LENGTH(text));
    }
    PyErr_Clear();  // lone surrogates: the base class has the error handler
  }
  return PyObject_CallFunctionObjArgs(g_base_write, self, text, nullptr);
}

PyObject* StreamClose(PyObject* self, PyObject*) {
  StateOf(self).quick = false;
  return PyObject_CallOneArg(g_base_close, self);
}

PyObject* StreamDetach(PyObject* self, PyObject*) {
  StateOf(self).quick = false;
  return PyObject_CallOneArg(g_base_detach, self);
}

bool EncodesUtf8(PyObject* self) {
  PyObject* encoding = PyObject_GetAttrString(self, "encoding");
  const char* name = encoding != nullptr ? PyUnicode_AsUTF8(encoding) : nullptr;
  bool utf8 = name != nullptr && (strcmp(name, "utf-8") == 0 || strcmp(name, "UTF-8") == 0);
  Py_XDECREF(encoding);
  PyErr_Clear();
  return utf8;
}

// Of a reconfiguration that was accepted.
void TakeNewline(StreamState& state, PyObject* keywords) {
  PyObject* newline = keywords != nullptr ? PyDict_GetItemString(keywords, "newline") : nullptr;
  if (newline == nullptr) return;
  state.translates =
      PyUnicode_Check(newline) && PyUnicode_FindChar(newline, '\r', 0, PY_SSIZE_T_MAX, 1) == 0;
}

PyObject* StreamReconfigure(PyObject* self, PyObject* args, PyObject* keywords) {
  PyObject* bound = PyMethod_New(g_base_reconfigure, self);
  if (bound == nullptr) return nullptr;
  PyObject* result = PyObject_Call(bound, args, keywords);
  Py_DECREF(bound);
  StreamState& state = StateOf(self);
  if (result != nullptr) TakeNewline(state, keywords);
  state.quick = result != nullptr && EncodesUtf8(self) && !state.translates;
  return result;
}

PyMethodDef kStreamMethods[] = {
    {"write", StreamWrite, METH_O,
     "Write text to the cell's output; returns the number of characters."},
    {"close", StreamClose, METH_NOARGS, "Close the stream."},
    {"detach", StreamDetach, METH_NOARGS, "Separate the underlying buffer."},
    {"reconfigure", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(StreamReconfigure)),
     METH_VARARGS | METH_KEYWORDS, "Change encoding, errors, newline or buffering."},
    {}};

PyTypeObject* MakeStreamType() {
  PyObject* io = PyImport_ImportModule("_io");
  g_text_io = reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(io, "TextIOWrapper"));
  Py_DECREF(io);
  auto* base = reinterpret_cast<PyObject*>(g_text_io);
  g_base_write = PyObject_GetAttrString(base, "write");
  g_base_close = PyObject_GetAttrString(base, "close");
  g_base_detach = PyObject_GetAttrString(base, "detach");
  g_base_reconfigure = PyObject_GetAttrString(base, "reconfigure");
  PyType_Slot slots[] = {{Py_tp_methods, kStreamMethods}, {}};
  PyType_Spec spec = {"_cellar.TextStream",
                      static_cast<int>(g_text_io->tp_basicsize + sizeof(StreamState)), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE, slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpecWithBases(&spec, base));
}

}  // namespace

void InstallStreams(Output& output, PyObject* cell_variable, PyObject* thread_origin) {
  g_output = &output;
  g_cell_variable = Py_NewRef(cell_variable);
  g_thread_origin = Py_NewRef(thread_origin);
}

PyTypeObject* TextStreamType() {
  if (g_stream_type == nullptr) g_stream_type = MakeStreamType();
  return g_stream_type;
}

PyObject* BindStream(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 2 || !PyObject_TypeCheck(args[0], TextStreamType())) {
    PyErr_SetString(PyExc_TypeError, "bind_stream(stream, number)");
    return nullptr;
  }
  PyObject* buffer = PyObject_GetAttrString(args[0], "buffer");
  if (buffer == nullptr) return nullptr;
  StateOf(args[0]) = {static_cast<wire::StreamId>(PyLong_AsLong(args[1])), EncodesUtf8(args[0]),
                      /*translates=*/false, buffer, Py_TYPE(buffer)};
  Py_DECREF(buffer);
  Py_RETURN_NONE;
}

PyObject* IsWholeStream(PyObject*, PyObject* stream) {
  static PyObject* const name = PyUnicode_InternFromString("buffer");
  const StreamState& state = StateOf(stream);
  if (!state.quick) Py_RETURN_FALSE;
  PyObject* buffer = PyObject_GetAttr(stream, name);
  bool whole = buffer != nullptr && buffer == state.buffer && Py_TYPE(buffer) == state.buffer_type;
  // Methods of its own, or that it is closed, would stand in its dictionary.
  PyObject** attributes = whole ? _PyObject_GetDictPtr(buffer) : nullptr;
  if (attributes != nullptr && *attributes != nullptr) whole = PyDict_GET_SIZE(*attributes) == 0;
  Py_XDECREF(buffer);
  PyErr_Clear();
  return PyBool_FromLong(whole);
}

bool WriteOutput(wire::StreamId stream, std::string_view text) {
  if (IsForkedChild() || g_output == nullptr) {
    Py_BEGIN_ALLOW_THREADS;
    WriteDirect(stream, text);
    Py_END_ALLOW_THREADS;
    return true;
  }
  uint32_t cell = CurrentCell();
  int waits = 0;  // since there was room
  while (!text.empty()) {
    size_t written = g_output->Write(stream, cell, text);
    text.remove_prefix(written);
    if (written > 0) {
      waits = 0;
      continue;
    }
    Py_BEGIN_ALLOW_THREADS;
    // Once: a host that does not read on purpose does not read the channel either.
    if (++waits == kUnheardWaits) Worker().channel.Send(wire::MessageFrame(wire::RingFull{}));
    g_output->WaitForRoom();
    Py_END_ALLOW_THREADS;
    if (PyErr_CheckSignals() != 0) return false;
  }
  return true;
}

uint32_t CurrentCell() {
  PyObject* cell = nullptr;
  if (g_cell_variable == nullptr || PyContextVar_Get(g_cell_variable, nullptr, &cell) != 0 ||
      cell == nullptr) {
    PyErr_Clear();
    return 0;
  }
  // A cell may set the variable to anything.
  const long named = PyLong_AsLong(cell);
  if (named == -1) PyErr_Clear();
  Py_DECREF(cell);
  uint32_t number = HasBegun(named) ? static_cast<uint32_t>(named) : ThreadOrigin();
  return number != 0 ? number : RunningCell();
}

}  // namespace cellar::embed
