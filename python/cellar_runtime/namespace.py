"""The globals of a session: the module `__main__`, with the history names that IPython users know."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys
import types

_MISSING = object()


class Namespace:
    """`globals` is what cells see. `In`, `Out`, `_`, `__`, `___`, `_N` are kept here."""

    def __init__(self, helpers):
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = sys.modules["builtins"]
        self.globals = module.__dict__
        self.globals.update(helpers)
        self._inputs = [""]
        self._outputs = {}
        self._recent = ["", "", ""]
        self.globals["In"] = self._inputs
        self.globals["Out"] = self._outputs
        for name in ("_", "__", "___"):
            self.globals[name] = ""
        sys.modules["__main__"] = module

    def remember_input(self, cell: int, text: str) -> None:
        """Keeps In[cell], also when numbers were skipped."""
        while len(self._inputs) < cell:
            self._inputs.append("")
        self._inputs.append(text)

    def remember_result(self, cell: int, value) -> None:
        """Keeps Out[cell] and moves `_`, `__`, `___` on, unless the user has given `_` a value of his own."""
        self._outputs[cell] = value
        self.globals[f"_{cell}"] = value
        if self.globals.get("_", _MISSING) is self._recent[0]:
            self._recent = [value, *self._recent[:2]]
            self.globals["_"], self.globals["__"], self.globals["___"] = self._recent
