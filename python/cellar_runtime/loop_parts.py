"""What the event loop is made of, as it was before the first cell: modules and classes of the library, of which a cell may
replace any name."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import collections
import contextvars
import heapq
import selectors
import socket
import threading
import time
from asyncio import base_events, events, futures, selector_events, tasks, unix_events
from types import ModuleType

_MISSING = object()
_set_running_loop = asyncio._set_running_loop
_MODULES = (asyncio, base_events, collections, contextvars, events, futures, heapq, selector_events, selectors, socket, tasks,
            threading, time, unix_events)


class LoopParts:
    """Puts back what a loop cannot do without. Only for a loop that keeps failing: cells may well have a clock of their own."""

    def __init__(self, loop, selector):
        self._modules = [(module, _fixed(module)) for module in _MODULES]
        self._classes = [(cls, _fixed(cls), frozenset(vars(cls))) for cls in (
            *type(loop).__mro__, *type(selector).__mro__, events.Handle, events.TimerHandle)]

    def put_back(self) -> list[str]:
        """Names what it had to put back."""
        _set_running_loop(None)  # the loop has left without saying so, if that is what is broken
        repaired = []
        for cls, whole, names in self._classes:
            for name in vars(cls).keys() - names:  # it would hide what the class inherits
                delattr(cls, name)
                repaired.append(f"{cls.__name__}.{name}")
            repaired += _put_back(cls, whole)
        for module, whole in self._modules:
            repaired += _put_back(module, whole)
        return repaired


def _put_back(part, whole):
    broken = [name for name, value in whole.items() if vars(part).get(name, _MISSING) is not value]
    for name in broken:
        setattr(part, name, whole[name])
    return [f"{part.__name__}.{name}" for name in broken]


def _fixed(part):
    """What the library does not change as it goes, like locks, tables, and what is still None."""
    return {name: value for name, value in vars(part).items()
            if callable(value) or isinstance(value, (ModuleType, int, float, str, tuple))}
