"""Timers that a cell leaves running: they would raise in a later cell, or end the worker."""
__builtins__ = __import__("builtins").__dict__.copy()

import faulthandler
import functools

import _cellar

_stop_timers, _take_stopped_timers = _cellar.stop_timers, _cellar.take_stopped_timers
_dump_later, _cancel_dump = faulthandler.dump_traceback_later, faulthandler.cancel_dump_traceback_later
_dumps_later = False  # faulthandler does not tell
_cancelled = False  # such a dump, since anybody asked


def stop() -> None:
    global _dumps_later, _cancelled
    _stop_timers()
    if _dumps_later:
        _cancel_dump()
        _dumps_later, _cancelled = False, True


def take_stopped() -> bool:
    """Whether any were stopped since this was last asked."""
    global _cancelled
    had_dump, _cancelled = _cancelled, False
    return _take_stopped_timers() or had_dump


@functools.wraps(_dump_later)
def _dump_traceback_later(*args, **options):
    global _dumps_later
    _dump_later(*args, **options)
    _dumps_later = True


@functools.wraps(_cancel_dump)
def _cancel_dump_traceback_later():
    global _dumps_later
    _cancel_dump()
    _dumps_later = False


# Now, and not later: library.py takes what it finds in the modules for their own.
faulthandler.dump_traceback_later = _dump_traceback_later
faulthandler.cancel_dump_traceback_later = _cancel_dump_traceback_later
