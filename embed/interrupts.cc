#include "embed/interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>

#include "embed/fork_guard.h"
#include "embed/memory_reserve.h"
#include "host/wire/keeper_messages.h"

namespace cellar::embed {
namespace {

wire::RingHeader* g_shared = nullptr;
PyObject* g_cancel = nullptr;
PyObject* g_sigint_handler = nullptr;  // what signal.getsignal(SIGINT) must be
PyObject* g_insist_handler = nullptr;
// signal.getsignal and signal.signal: kept, since a cell may break the module.
PyObject* g_get_handler = nullptr;
PyObject* g_set_handler = nullptr;
pthread_t g_main_thread;
pid_t g_keeper = 0;

int g_guard_depth = 0;  // > 0 while the cell's own code runs on the main thread
// What a signal meant; set by the C handler, taken by the Python one.
struct Signalled {
  std::atomic<uint32_t> cell = 0;
  std::atomic<bool> by_host = false;
};
Signalled g_sigint;
Signalled g_insist;
std::atomic<bool> g_interrupted = false;  // the host has interrupted the running cell
std::atomic<uint32_t> g_copy = 0;  // the copy for which the main thread runs Python; 0 = none
bool g_step_was_ended = false;     // some of that
// An interrupt that came between two pieces of the cell's own code; the next piece, or the loop,
// takes it. Main thread.
bool g_pending = false;

// True when an interrupt of that cell was asked for; tells the host that it is known now.
bool HearInterrupt(uint32_t cell) {
  return g_shared->interrupt_target.compare_exchange_strong(cell, 0);
}

// Whether that cell has been sent and not begun: something else keeps the worker from it.
bool IsToCome(uint32_t cell) { return cell > g_shared->begun_cell.load(); }

// Whether the host means what runs now for a copy.
bool CopyIsMeant() { return g_copy != 0 && g_shared->copy_target.load() == g_copy; }

// To the main thread, with a value by which one of the host's still counts as such. (A flag beside
// the signal would be taken by the first of two that threads pass on at once.)
void PassOn(int signal, bool from_host) {
  pthread_sigqueue(g_main_thread, signal, {.sival_ptr = from_host ? &g_shared : nullptr});
}

bool IsPassedOnFromHost(const siginfo_t& info) {
  return info.si_code == SI_QUEUE && info.si_pid == getpid() &&
         info.si_value.sival_ptr == &g_shared;
}

// A cell may have left no room to queue signals (RLIMIT_SIGPENDING): they come without a sender.
bool IsHostsWithoutSender(const siginfo_t& info) {
  const uint32_t running = g_shared->running_cell.load();
  return info.si_pid == 0 && running != 0 && g_shared->interrupt_target.load() == running;
}

// In signal context.
void Hear(int signal, const siginfo_t* info) {
  // A forked child is nobody's cell, and what was the main thread may not be in it. Python knows
  // which thread is.
  if (IsForkedChild()) {
    PyErr_SetInterruptEx(signal);
    return;
  }
  uint32_t running = g_shared->running_cell.load();
  // A signal from the keeper is the host's and names a cell. One that the cell sends itself, or a
  // person sends from a shell, means whatever runs now.
  bool from_host =
      info->si_pid == g_keeper || IsPassedOnFromHost(*info) || IsHostsWithoutSender(*info);
  uint32_t meant = from_host ? g_shared->interrupt_target.load() : running;
  const bool insists = from_host && signal == wire::InsistSignal();
  if (insists && running == 0 && !IsToCome(meant)) meant = g_shared->way_target.load();
  const bool makes_way = running == 0 && insists && IsToCome(meant);
  const bool ends_copy = insists && CopyIsMeant();
  if (!makes_way && !ends_copy && (running == 0 || meant != running)) return;
  if (!pthread_equal(pthread_self(), g_main_thread)) {
    // Only a signal on the main thread ends its blocking call; and Python acts on signals there
    // only.
    return PassOn(signal, from_host);
  }
  Signalled& signalled = signal == SIGINT ? g_sigint : g_insist;
  // Another that comes before Python looks does not make it less the host's.
  if (from_host) signalled.by_host = true;
  signalled.cell = meant;
  PyErr_SetInterruptEx(signal);
}

void OnSignal(int signal, siginfo_t* info, void*) {
  const int error = errno;
  Hear(signal, info);
  errno = error;
}

// None, or nothing with KeyboardInterrupt set when whatever runs in the cell's place is to end.
PyObject* CancelParkedCell(bool insist) {
  g_pending = true;
  PyObject* raise = PyObject_CallOneArg(g_cancel, insist ? Py_True : Py_False);
  if (raise == nullptr) return nullptr;
  bool must_raise = raise == Py_True;
  Py_DECREF(raise);
  if (must_raise) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  Py_RETURN_NONE;
}

// On the main thread, between bytecodes.
PyObject* OnPythonSignal(bool insist) {
  if (IsForkedChild()) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  uint32_t running = g_shared->running_cell.load();
  Signalled& signalled = insist ? g_insist : g_sigint;
  uint32_t meant = signalled.cell.exchange(0);
  bool by_host = signalled.by_host.exchange(false) && meant != 0;
  if (insist && g_copy != 0) {
    g_step_was_ended = true;
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  // No signal came: _thread.interrupt_main() means whatever runs now. (Or one came a second time
  // while it was being handled; then the cell knows.)
  if (meant == 0 && !g_interrupted) meant = running;
  if (running == 0 && insist && by_host && IsToCome(meant)) {
    // A task of an earlier cell holds the loop. It ends, and the cell finds its interrupt waiting.
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  if (running == 0 || meant != running) Py_RETURN_NONE;  // that cell is over
  if (by_host) {
    HearInterrupt(running);
    // One interrupt is one KeyboardInterrupt: what the cell does about it is not disturbed again
    // before the host insists.
    if (g_interrupted.exchange(true) && !insist) Py_RETURN_NONE;
  }
  if (g_guard_depth > 0) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  return CancelParkedCell(insist);
}

PyObject* OnPythonSigint(PyObject*, PyObject*) { return OnPythonSignal(false); }
PyObject* OnPythonInsist(PyObject*, PyObject*) { return OnPythonSignal(true); }

PyMethodDef kSigintMethod = {"interrupt_cell", OnPythonSigint, METH_VARARGS,
                             "cellar's handler of SIGINT: interrupts the running cell."};
PyMethodDef kInsistMethod = {"interrupt_cell_insisting", OnPythonInsist, METH_VARARGS, nullptr};

constexpr int kFlags = SA_SIGINFO | SA_ONSTACK;  // no SA_RESTART: a blocking call must end
constexpr int kOtherFlags = SA_RESTART | SA_NODEFER | static_cast<int>(SA_RESETHAND);

void SetCHandler(int signal) {
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = kFlags;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

bool HasCHandler(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 &&
         (action.sa_flags & (kFlags | kOtherFlags)) == kFlags && action.sa_sigaction == OnSignal;
}

// Python's table first (PyErr_SetInterruptEx does nothing for a signal Python does not handle),
// then ours over it.
bool Arm(int signal, PyObject* handler) {
  PyObject* now = PyObject_CallFunction(g_get_handler, "i", signal);
  bool changed = now != handler;
  Py_XDECREF(now);
  if (changed) {
    PyObject* old = PyObject_CallFunction(g_set_handler, "iO", signal, handler);
    Py_XDECREF(old);
    PyErr_Clear();
  }
  if (!HasCHandler(signal)) {
    SetCHandler(signal);
    changed = true;
  }
  return changed;
}

// Blocked by a cell, they would never come.
bool Unblock() {
  sigset_t ours, before;
  sigemptyset(&ours);
  for (int signal : {SIGINT, wire::InsistSignal(), wire::DumpSignal()}) sigaddset(&ours, signal);
  pthread_sigmask(SIG_UNBLOCK, &ours, &before);
  return sigismember(&before, SIGINT) == 1 || sigismember(&before, wire::InsistSignal()) == 1;
}

// The stack that faulthandler has given to the handlers of this thread, from when it has: one that
// a cell has put in its place may be none.
void RestoreSignalStack() {
  static stack_t own = {.ss_flags = SS_DISABLE};
  stack_t now;
  if (sigaltstack(nullptr, &now) != 0) return;
  if (own.ss_flags == SS_DISABLE) {
    own = now;
  } else if (now.ss_sp != own.ss_sp || now.ss_size != own.ss_size || now.ss_flags != own.ss_flags) {
    sigaltstack(&own, nullptr);
  }
}

// Makes a cell the running one for as long as it lives.
class NestedScope {
 public:
  explicit NestedScope(uint32_t cell)
      : outer_(g_shared->running_cell.load()),
        guard_depth_(std::exchange(g_guard_depth, 0)),
        interrupted_(g_interrupted),
        pending_(g_pending) {
    BeginCell(cell);
    g_pending = g_interrupted;  // the first guarded call takes it
  }
  ~NestedScope() {
    g_guard_depth = guard_depth_;
    g_interrupted = interrupted_;
    g_pending = pending_;
    g_shared->running_cell.store(outer_);
    // As in BeginCell: a signal that meant the outer cell did nothing while it was not running.
    if (outer_ != 0 && HearInterrupt(outer_)) g_interrupted = g_pending = true;
  }

 private:
  uint32_t outer_;
  int guard_depth_;
  bool interrupted_;
  bool pending_;
};

}  // namespace

void InstallInterrupts(wire::RingHeader& shared, PyObject* cancel) {
  g_shared = &shared;
  g_cancel = Py_NewRef(cancel);
  g_main_thread = pthread_self();
  // Not "signal", whose functions look every handler up in an enum: ten microseconds for each, in
  // each cell.
  PyObject* module = PyImport_ImportModule("_signal");
  g_get_handler = PyObject_GetAttrString(module, "getsignal");
  g_set_handler = PyObject_GetAttrString(module, "signal");
  Py_DECREF(module);
  g_sigint_handler = PyCFunction_New(&kSigintMethod, nullptr);
  g_insist_handler = PyCFunction_New(&kInsistMethod, nullptr);
  RestoreInterrupts();
}

bool RestoreInterrupts() {
  bool changed = Arm(SIGINT, g_sigint_handler);
  changed |= Arm(wire::InsistSignal(), g_insist_handler);
  changed |= Unblock();
  RestoreSignalStack();
  return changed;
}

void SetKeeper(pid_t keeper) { g_keeper = keeper; }

bool BeginCell(uint32_t cell) {
  g_interrupted = false;
  g_pending = false;
  g_shared->begun_cell.store(cell);
  g_shared->running_cell.store(cell);
  // The host stores the target and then signals: a signal that came before the store above did
  // nothing, but then its target is visible here.
  if (HearInterrupt(cell)) g_interrupted = true;
  return g_interrupted;
}

void EndCell() { g_shared->running_cell.store(0); }

bool RunForCopy(uint32_t copy, absl::FunctionRef<void()> step) {
  g_step_was_ended = false;
  g_copy = copy;
  step();
  g_copy = 0;
  return !g_step_was_ended;
}

uint32_t RunningCell() { return g_shared != nullptr ? g_shared->running_cell.load() : 0; }

bool HasBegun(long cell) { return cell > 0 && cell <= g_shared->begun_cell.load(); }

bool CellWasInterrupted() { return g_interrupted; }

bool TakePendingInterrupt() { return std::exchange(g_pending, false) && !IsForkedChild(); }

GuardScope::GuardScope() { ++g_guard_depth; }
GuardScope::~GuardScope() {
  if (--g_guard_depth == 0 && PyErr_Occurred() != nullptr) RelaxMemoryAfterError();
}

PyObject* GuardedCall(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "guarded(function, *args)");
    return nullptr;
  }
  GuardScope guard;
  if (TakePendingInterrupt()) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return nullptr;
  }
  return PyObject_Vectorcall(args[0], args + 1, static_cast<size_t>(count - 1), nullptr);
}

void HearInterruptByBridge() {
  uint32_t running = g_shared->running_cell.load();
  if (running == 0) return;
  if (!pthread_equal(pthread_self(), g_main_thread)) {
    // The cell must not go on for the moment until the host's own signal has come.
    if (g_shared->interrupt_target.load() == running) PassOn(SIGINT, true);
    return;
  }
  if (!HearInterrupt(running)) return;
  g_interrupted = true;
  if (g_guard_depth > 0) return;
  Py_XDECREF(CancelParkedCell(false));
  PyErr_Clear();
}

PyObject* NestedCall(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count < 2) {
    PyErr_SetString(PyExc_TypeError, "nested(cell, function, *args)");
    return nullptr;
  }
  PyObject* result;
  {
    NestedScope scope(static_cast<uint32_t>(PyLong_AsUnsignedLong(args[0])));
    result = PyObject_Vectorcall(args[1], args + 2, static_cast<size_t>(count - 2), nullptr);
  }
  if (result == nullptr || !g_pending) return result;
  Py_DECREF(result);
  if (g_guard_depth == 0) return CancelParkedCell(false);
  g_pending = false;
  PyErr_SetNone(PyExc_KeyboardInterrupt);
  return nullptr;
}

}  // namespace cellar::embed
