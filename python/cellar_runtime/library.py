"""The standard library's modules, as they were before the first cell: a cell may empty them, or hide them in sys.modules."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys
from types import ModuleType

MODULES, SYS = sys.modules, sys.__dict__
# What the loop, and nearly every cell, cannot do without.
_CORE = ("builtins", "sys", "os", "io", "threading", "asyncio", "__main__")
_set_class = object.__dict__["__class__"].__set__


def _contents():
    """(name, what is in it, a copy of that) of each module that is loaded, but of the project's own."""
    return [(name, module.__dict__, module.__dict__.copy()) for name, module in MODULES.items()
            if type(module) is ModuleType and not name.startswith("cellar")]


_CONTENTS = _contents()  # now, before others that are to be preloaded


class Library:
    """Puts back, and names what it had to put back."""

    def __init__(self):
        self._modules = MODULES.copy()
        self._plain = [(name, module) for name, module in self._modules.items() if type(module) is ModuleType]
        self._core = [(name, self._modules[name]) for name in _CORE]

    def put_back_modules(self) -> list[str]:
        """Modules of which sys.modules has lost sight. Quick where none are missing."""
        repaired = []
        if type(sys) is not ModuleType:
            repaired += self.put_back_classes()
        if "modules" not in SYS and self.put_back_names():
            repaired.append("names of the library's modules")
        is_whole = SYS["modules"] is MODULES
        SYS["modules"] = MODULES
        for name, module in self._core:
            if MODULES.get(name) is not module:
                is_whole = False
                MODULES[name] = module
        if is_whole:
            return repaired
        for name in [name for name, module in MODULES.items() if module is None]:
            del MODULES[name]  # it says that there is no such module
        for name, module in self._modules.items():
            MODULES.setdefault(name, module)
        return [*repaired, "sys.modules"]

    def put_back_classes(self) -> list[str]:
        """That of a module may refuse every look at it."""
        replaced = [(name, module) for name, module in self._plain if type(module) is not ModuleType]
        for _, module in replaced:
            _set_class(module, ModuleType)
        return [f"{name}.__class__" for name, _ in replaced]

    def put_back_names(self) -> list[str]:
        """Those that modules have lost."""
        repaired = []
        for module, names, whole in _CONTENTS:
            lost = whole.keys() - names.keys()
            for name in lost:
                names[name] = whole[name]
            repaired += [f"{module}.{name}" for name in lost]
        return repaired

    def put_back_values(self) -> list[str]:
        """Functions, classes and modules that cells have replaced in the library, and what is None now. They may well want
        it so: only for what fails otherwise."""
        repaired = self.put_back_names()
        for module, names, whole in _CONTENTS:
            replaced = [name for name, value in whole.items() if names[name] is not value
                        and (names[name] is None or callable(value) or type(value) is ModuleType)]
            for name in replaced:
                names[name] = whole[name]
            repaired += [f"{module}.{name}" for name in replaced]
        return repaired
