"""The error that a cell has ended with last, where `traceback.print_last()` and `pdb.pm()` look for it."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys

from cellar_runtime import stack, tracebacks

_SYS = sys.__dict__
_NAMES = ("last_type", "last_value", "last_traceback")


def remember(error: BaseException) -> None:
    """Until the next one, or forget(). Its frames keep what is in them, so one for want of memory is not kept."""
    kind = type(error)
    if issubclass(kind, MemoryError):
        forget()
    elif not issubclass(kind, SystemExit):
        frames = next(stack.visible_frames(tracebacks.traceback_of(error)), None)
        _SYS.update(zip(_NAMES, (kind, error, frames)))


def forget() -> None:
    for name in _NAMES:
        _SYS.pop(name, None)
