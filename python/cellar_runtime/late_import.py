"""Modules that few sessions need: imported on first use, so that no worker starts later for them."""
__builtins__ = __import__("builtins").__dict__.copy()

import builtins
from _thread import RLock
from importlib import import_module
from types import ModuleType

from cellar_runtime.library import MODULES, SYS

_PACKAGE = "cellar_runtime"
_MISSING = object()
_names, _whole_names = builtins.__dict__, builtins.__dict__.copy()
# Of the template, which knows neither a directory of a user nor what cells have done to the import system.
_search = {name: SYS[name].copy() for name in ("path", "meta_path", "path_hooks", "path_importer_cache")}
_standard, _standard_places = SYS["stdlib_module_names"], tuple(SYS["path"])
_loaded = {}
_own = {}
_lock = RLock()  # threads that load at once would put each other's changes back


def remember() -> None:
    """Called in the template, and after each import: which modules are the runtime's own."""
    _own.update((name, module) for name, module in MODULES.items() if name.startswith(_PACKAGE))


def load(name: str):
    """The module. It and what it imports are the standard library's, also where a session's directory has files of such
    names, or a cell has put something else into sys.modules or changed how modules are found."""
    if name not in _loaded:
        with _lock:
            if name not in _loaded:
                _loaded[name] = _import(name)
    return _loaded[name]


def _import(name):
    search = {each: SYS.get(each) for each in _search}
    changed = {each: _names.get(each, _MISSING) for each, value in _whole_names.items() if _names.get(each) is not value}
    foreign = {each: module for each, module in list(MODULES.items()) if _is_foreign(each, module)}
    try:
        for each in foreign:
            MODULES.pop(each, None)
        SYS.update({each: _before(value, search[each]) for each, value in _search.items()})
        _names.update(_whole_names)
        _drop_forged_modules()
        module = import_module(name)
        remember()
        return module
    finally:
        SYS.update(search)
        MODULES.update(foreign)
        for each, value in changed.items():
            if value is _MISSING:
                del _names[each]
            else:
                _names[each] = value


def _before(template, session):
    """A copy of the template's entries, and after them the session's: other threads may import from there meanwhile."""
    entries = template.copy()
    if type(entries) is list and type(session) is list:
        entries += [entry for entry in session if not any(entry is each for each in template)]
    return entries


def _is_foreign(name, module):
    """Whether something else has the place of a module of the standard library."""
    if type(name) is not str or name.partition(".")[0] not in _standard:
        return False
    spec = module.__dict__.get("__spec__") if type(module) is ModuleType else None
    origin = getattr(spec, "origin", None)
    return type(origin) is not str or origin not in ("built-in", "frozen") and not origin.startswith(_standard_places)


def _drop_forged_modules():
    for name in [name for name in MODULES if type(name) is str and name.startswith(_PACKAGE)]:
        if name not in _own:
            del MODULES[name]
    MODULES.update(_own)
