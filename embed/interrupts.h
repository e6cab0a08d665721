// Interrupts that name a cell. The host writes the cell's number into shared memory and signals the
// worker; what arrives is raised in that cell's own code, cancels it where it is parked in an
// await, or is nothing at all.
//
// Signals are never blocked (children would inherit that); instead every handler asks which cell is
// running.
#pragma once

#include <Python.h>

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "host/wire/ring.h"

namespace cellar::embed {

// Once, in the template, on the main thread. `cancel(insist: bool) -> bool` is called on the main
// thread when the cell is running but its code is not; it returns whether to raise
// KeyboardInterrupt in whatever is running instead.
void InstallInterrupts(wire::RingHeader& shared, PyObject* cancel);
// Puts the handlers back after a cell has changed them. True when it had to.
bool RestoreInterrupts();

// The host's signals come from that process.
void SetKeeper(pid_t keeper);

// True when an interrupt for this cell has come already.
bool BeginCell(uint32_t cell);
void EndCell();
// Calls what runs Python to make that copy; see RingHeader::copy_target. False when the host has
// ended some of it.
bool RunForCopy(uint32_t copy, absl::FunctionRef<void()> step);
// The innermost one; 0 when none runs.
uint32_t RunningCell();
// Whether there has been such a cell in this worker, or its originals.
bool HasBegun(long cell);
// Whether the running cell has been interrupted.
bool CellWasInterrupted();
// Whether an interrupt waits that came while none of the cell's own code ran; it is then the
// caller's to act on.
bool TakePendingInterrupt();

// A bridge call was cancelled: acts on the interrupt of the running cell, if that is why, ahead of
// its signal. The main thread's caller raises KeyboardInterrupt in the cell's own code; a parked
// cell is cancelled; from another thread the main thread is signalled.
void HearInterruptByBridge();

// nested(cell, function, *args): calls it while `cell` is the one that interrupts name, and the
// cell that was running waits. What it runs of the nested cell's own code must be guarded again.
PyObject* NestedCall(PyObject* self, PyObject* const* args, Py_ssize_t count);

// For as long as it lives, what the main thread runs is the cell's own code.
class GuardScope {
 public:
  GuardScope();
  ~GuardScope();
  GuardScope(const GuardScope&) = delete;
  GuardScope& operator=(const GuardScope&) = delete;
};

// guarded(function, *args): calls it as the cell's own code. KeyboardInterrupt comes out of this
// call or not at all.
PyObject* GuardedCall(PyObject* self, PyObject* const* args, Py_ssize_t count);

}  // namespace cellar::embed
