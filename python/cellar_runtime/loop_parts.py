"""What the event loop, and what leads to a cell, are made of, as it was before the first cell: modules and classes of the
library, of which a cell may replace any name."""
__builtins__ = __import__("builtins").__dict__.copy()

import _ast
import _weakrefset
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
_MODULES = (asyncio, base_events, collections, contextvars, events, futures, heapq, selector_events, selectors, socket, tasks,
            threading, time, unix_events)
_CLASSES = (events.Handle, events.TimerHandle, _weakrefset.WeakSet,
            _ast.AST, _ast.mod, _ast.Module, _ast.Expression, _ast.stmt, _ast.Expr, _ast.expr)
_set_in_class, _delete_from_class = type.__setattr__, type.__delattr__


class LoopParts:
    """Puts back what a loop cannot do without. Only for one that keeps failing: cells may well have a clock of their own."""

    def __init__(self, loop, selector):
        self._modules = [(module.__name__, module.__dict__, _fixed(module)) for module in _MODULES]
        self._classes = [(cls, _fixed(cls), frozenset(vars(cls)))
                         for cls in (*type(loop).__mro__, *type(selector).__mro__, *_CLASSES)]

    def put_back(self) -> list[str]:
        """Names what it had to put back."""
        repaired = []
        for cls, whole, names in self._classes:
            for name in vars(cls).keys() - names:  # it would hide what the class inherits
                _delete_from_class(cls, name)
                repaired.append(f"{cls.__name__}.{name}")
            for name in _broken(vars(cls), whole):
                _set_in_class(cls, name, whole[name])
                repaired.append(f"{cls.__name__}.{name}")
        for module, names, whole in self._modules:
            broken = _broken(names, whole)
            names.update({name: whole[name] for name in broken})
            repaired += [f"{module}.{name}" for name in broken]
        return repaired


class KeptObject:
    """The class and the attributes of an object, as they are now."""

    def __init__(self, whole):
        self._object, self._class, self._attributes = whole, type(whole), dict(vars(whole))

    def put_back(self) -> bool:
        """The class, and the attributes that are gone, of another type, or other tuples. True when there were any."""
        changed = type(self._object) is not self._class
        if changed:
            self._object.__class__ = self._class
        now = vars(self._object)
        for name, value in self._attributes.items():
            is_other = type(now.get(name)) is not type(value) or (type(value) is tuple and now[name] is not value)
            if name not in now or (value is not None and is_other):
                now[name] = value
                changed = True
        return changed


def _broken(names, whole):
    return [name for name, value in whole.items() if names.get(name, _MISSING) is not value]


def _fixed(part):
    """What the library does not change as it goes, like locks, tables, and what is still None."""
    return {name: value for name, value in vars(part).items()
            if callable(value) or isinstance(value, (ModuleType, int, float, str, tuple))}
