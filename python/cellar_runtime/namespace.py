"""The globals of a session: the module `__main__`, with the history names that IPython users know."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys
import types

from cellar_runtime import last_error

_MISSING = object()
_CALLED = (types.ModuleType, types.FunctionType, type)  # by other values
_HISTORY = ("In", "Out", "_", "__", "___")


class Namespace:
    """`globals` is what cells see. `In`, `Out`, `_`, `__`, `___`, `_N` are kept here."""

    def __init__(self, helpers):
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = sys.modules["builtins"]
        self.globals = module.__dict__
        self._own = dict(self.globals)
        self._helpers = helpers
        self._fill()
        sys.modules["__main__"] = module

    def reset(self) -> None:
        """Forgets everything that cells have bound; the helpers are back."""
        last_error.forget()
        self.globals.clear()
        self.globals.update(self._own)
        self._fill()

    def keep_helpers(self) -> None:
        """What is bound now counts as helpers: a reset brings it back."""
        self._helpers.update((name, value) for name, value in self.globals.items()
                             if name not in self._own and name not in _HISTORY)

    def let_go(self) -> None:
        """At the end: values whose last act is their `__del__`, like that of a ZipFile, come to it, the newest first. What
        that may call is still there."""
        last_error.forget()
        self._outputs.clear()
        self._recent = ("", "", "")
        items = list(self.globals.items())
        while items:
            name, value = items.pop()
            is_called, value = issubclass(type(value), _CALLED), None  # it goes now, and not with the next
            try:
                if not is_called:
                    self.globals.pop(name, None)
            except BaseException:  # of a key that is no plain string
                pass

    def restore(self) -> list[str]:
        """Before each cell: puts back what Python itself expects of a module, and names what a cell had removed or
        replaced. Warnings that an earlier cell has shown are shown again."""
        return self._without_odd_keys(self._put_back_own)

    def _without_odd_keys(self, step, *args):
        """Takes a step; where it fails because of them, removes keys that are no plain strings, or of `Out` no plain
        numbers. One that has the hash of a name is asked whether it is that name, and may do anything."""
        try:
            return step(*args)
        except BaseException as error:
            had_odd_keys = _drop_keys(self.globals, str) | _drop_keys(self._outputs, int)
            if not had_odd_keys or issubclass(type(error), KeyboardInterrupt):
                raise
        return step(*args)

    def _put_back_own(self):
        names = self.globals
        broken = [name for name in self._own if name not in names]
        if names.get("__builtins__") is not self._own["__builtins__"] and "__builtins__" not in broken:
            broken.append("__builtins__")
        for name in broken:
            names[name] = self._own[name]
        names.pop("__warningregistry__", None)
        return broken

    def user_items(self) -> dict:
        """What cells have bound, by name: no helpers, no history, no names that begin with an underscore."""
        bound = dict(self.globals)  # a copy: threads may bind names meanwhile
        return {name: bound[name] for name in sorted(name for name in bound if type(name) is str)
                if not name.startswith("_") and not self.is_given(name, bound[name])}

    def is_given(self, name: str, value) -> bool:
        """Whether that is what every session has for the name: a helper, In or Out."""
        return value is self._helpers.get(name, _MISSING) or value is self._inputs or value is self._outputs

    def _fill(self):
        self.globals.update(self._helpers)
        self._inputs = [""]
        self._outputs = {}
        self._recent = ("", "", "")  # no list: a cell may empty all that it finds
        self.globals["In"] = self._inputs
        self.globals["Out"] = self._outputs
        self.globals.update({"_": "", "__": "", "___": ""})

    def remember_input(self, cell: int, text: str) -> None:
        """Keeps In[cell], also when numbers were skipped."""
        while len(self._inputs) < cell:
            self._inputs.append("")
        self._inputs.append(text)

    def remember_result(self, cell: int, value) -> None:
        """Keeps Out[cell] and moves `_`, `__`, `___` on, unless the user has given `_` a value of his own."""
        self._without_odd_keys(self._keep_result, cell, value)

    def _keep_result(self, cell, value):
        self._outputs[cell] = value
        self.globals[f"_{cell}"] = value
        if self.globals.get("_", self._recent[0]) is self._recent[0]:  # del _ gives it back
            self._recent = (value, *self._recent[:2])
            self.globals["_"], self.globals["__"], self.globals["___"] = self._recent


def _drop_keys(names, kind):
    """Those that are of another kind. Whether there were any."""
    items = list(names.items())
    plain = [item for item in items if type(item[0]) is kind]
    if len(plain) == len(items):
        return False
    names.clear()
    names.update(plain)
    return True
