"""The names of `builtins`, which cells may remove or replace. Replacing is their right, with two exceptions: what the library
itself needs at every step, and what turns out to be broken."""
__builtins__ = __import__("builtins").__dict__.copy()

import builtins

import _cellar
from cellar_runtime import untrusted

_NAMES, _WHOLE, _MISSING = builtins.__dict__, builtins.__dict__.copy(), object()
_version = _cellar.dict_version
_VITAL = {name for name, value in _WHOLE.items() if isinstance(value, type)} | {
    "__build_class__", "all", "any", "callable", "compile", "delattr", "eval", "exec", "getattr", "globals", "hasattr", "hash",
    "id", "isinstance", "issubclass", "iter", "len", "locals", "max", "min", "next", "repr", "setattr", "vars"}


class BuiltinNames:
    """Puts back, and names what it had to put back."""

    def __init__(self):
        self._seen = _version(_NAMES)

    def changed(self) -> list[str]:
        """What cells have removed or replaced."""
        return [name for name, value in _WHOLE.items() if _NAMES.get(name, _MISSING) is not value]

    def put_back(self, names) -> list[str]:
        _NAMES.update({name: _WHOLE[name] for name in names})
        return [f"builtins.{name}" for name in names]

    def put_back_broken(self) -> list[str]:
        """Before each cell: what is missing or cannot be called any more; all, where a cell has not even spared what the
        library needs. Quick where nothing was changed since."""
        if _version(_NAMES) == self._seen:
            return []
        changed = self.changed()
        if _VITAL.isdisjoint(changed):
            changed = [name for name in changed if not callable(_NAMES.get(name))]
        repaired = self.put_back(changed)
        self._seen = _version(_NAMES)
        return repaired

    def put_back_failing(self, codes: set[int]) -> list[str]:
        """After an error that came through these: functions of cells among them."""
        return self.put_back([name for name in self.changed() if id(untrusted.code_of(_NAMES.get(name))) in codes])
