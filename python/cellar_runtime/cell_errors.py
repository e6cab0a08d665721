"""What becomes of the error that ends a cell: a message to the host, or the end of a child that the cell has forked."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import os
import sys

import _cellar
from cellar_runtime import last_error, tracebacks, untrusted
from cellar_runtime.integrity import Integrity, shortened

_exit, _CancelledError = os._exit, asyncio.CancelledError
_guarded, _unaudited, _was_interrupted = _cellar.guarded, _cellar.unaudited, _cellar.was_interrupted
_take_pending_interrupt = _cellar.take_pending_interrupt
_ERROR, _INTERRUPTED = _cellar.DoneStatus.ERROR, _cellar.DoneStatus.INTERRUPTED


def report(cell: int, error: BaseException, integrity: Integrity) -> int:
    """Sends it to the host, and puts back what it arose in. Returns the status with which the cell is done."""
    interrupted = _unaudited(_send, cell, error)
    last_error.remember(error)
    integrity.put_back_failing(error, interrupted)
    # A cell may replace builtins, so they stay; but that may be why this one failed.
    changed = integrity.changed_builtins()
    if changed:
        _cellar.send_notice(cell, f"builtins that cells have changed: {', '.join(shortened(changed))}")
    return _INTERRUPTED if interrupted else _ERROR


def _send(cell, error):
    """Whether it is the host's own interrupt."""
    if _cellar.is_forked_child():
        _leave_forked_child(error)
    _take_pending_interrupt()  # the cell has ended; what is left is not to be disturbed
    kind = type(error)  # not isinstance(), which would ask the error for its class
    interrupted = _was_interrupted() and issubclass(kind, (KeyboardInterrupt, _CancelledError))
    if interrupted and issubclass(kind, _CancelledError):
        error = KeyboardInterrupt().with_traceback(tracebacks.traceback_of(error))
    try:
        ename, evalue, text, exit_code = _guarded(tracebacks.format_error, error)
    except BaseException as second:
        # Interrupted while a hostile __str__ was running, most likely.
        ename = untrusted.type_name(type(error))
        evalue = f"<not shown: {untrusted.type_name(type(second))} while it was formatted>"
        text, exit_code = f"{ename}: {evalue}\n", None
    _cellar.send_error(cell, *(part.encode("utf-8", "backslashreplace") for part in (ename, evalue, text)), exit_code)
    return interrupted


def _leave_forked_child(error):
    """It has come out of the cell by an exception."""
    ename, evalue, text, exit_code = tracebacks.format_error(error)
    if exit_code is None:
        sys.stderr.write(text + "\n")
        exit_code = 1
    _exit(exit_code)
