"""Calls a function right after a module has been imported, without importing it. Keeps the runtime's own modules from being
executed a second time."""

__builtins__ = __import__("builtins").__dict__.copy()

import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType

from cellar_runtime import untrusted

_OWN_PACKAGES = ("cellar_runtime", "cellar_prelude")
_callbacks: dict[str, Callable[[ModuleType], None]] = {}


def after_import(name: str, callback: Callable[[ModuleType], None]) -> None:
    """Has callback(module) run each time module `name` is executed; at once if it is loaded.

    A callback that fails leaves the import as it is: the user asked for the module, not the hook.
    """
    _callbacks[name] = callback
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
    if name in sys.modules:
        _run(callback, sys.modules[name])


class _Finder:
    """Finds nothing new by itself: asks the other finders and hooks the loader they give."""

    def find_spec(self, name, path=None, target=None):
        if target is not None and name.partition(".")[0] in _OWN_PACKAGES:  # importlib.reload
            return _spec_that_keeps(name, target)
        if name not in _callbacks:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    _hook(spec.loader, name)
                return spec
        return None


class _KeepingLoader:
    """Leaves a module as it is: what it has been given since it was executed cannot be had again."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        pass


def _spec_that_keeps(name, module):
    spec = ModuleSpec(name, _KeepingLoader(), origin="frozen", is_package="__path__" in module.__dict__)
    if spec.submodule_search_locations is not None:
        spec.submodule_search_locations = module.__path__
    return spec


def _hook(loader, name: str) -> None:
    """Shadows exec_module on this one loader: one of our own would hide get_source and get_data."""
    execute = loader.exec_module

    def exec_module(module):
        loader.__dict__.pop("exec_module", None)
        execute(module)
        if module.__name__ == name:  # a loader may serve several modules, as zipimport's does
            _run(_callbacks[name], module)

    loader.exec_module = exec_module


def _run(callback, module: ModuleType) -> None:
    try:
        callback(module)
    except untrusted.FAILURES:
        pass


_finder = _Finder()
