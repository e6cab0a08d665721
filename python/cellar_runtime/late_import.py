"""Modules that few sessions need: imported on first use, so that no worker starts later for them."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys
from _thread import RLock
from importlib import import_module
from types import ModuleType

_path = list(sys.path)  # of the template, which knows no directory of a user
_standard = sys.stdlib_module_names
_loaded = {}
_lock = RLock()  # threads that load at once would put each other's path back


def load(name: str):
    """The module. It and what it imports are the standard library's, also where a session's directory has files of such
    names, or a cell has put something else into sys.modules."""
    if name not in _loaded:
        with _lock:
            if name not in _loaded:
                _loaded[name] = _import(name)
    return _loaded[name]


def _import(name):
    foreign = {each: module for each, module in list(sys.modules.items()) if _is_foreign(each, module)}
    for each in foreign:
        sys.modules.pop(each, None)
    path, sys.path = sys.path, list(_path)
    try:
        return import_module(name)
    finally:
        sys.path = path
        sys.modules.update(foreign)


def _is_foreign(name, module):
    """Whether something else has the place of a module of the standard library."""
    if type(name) is not str or name.partition(".")[0] not in _standard:
        return False
    spec = module.__dict__.get("__spec__") if type(module) is ModuleType else None
    origin = getattr(spec, "origin", None)
    return type(origin) is not str or origin not in ("built-in", "frozen") and not origin.startswith(tuple(_path))
