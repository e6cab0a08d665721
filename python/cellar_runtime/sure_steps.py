"""How the steps on the way to a cell's own code are taken: earlier cells may have broken what they need."""
__builtins__ = __import__("builtins").__dict__.copy()

import os

import _cellar
from cellar_runtime import untrusted

_exit, _write = os._exit, os.write
_guarded, _unaudited, _was_interrupted = _cellar.guarded, _cellar.unaudited, _cellar.was_interrupted


class SureSteps:
    def __init__(self, integrity, namespace, compiler, task):
        self._integrity = integrity
        self._namespace = namespace
        self._compiler = compiler
        self._task = task

    def take(self, step, cell: int, *args):
        """Calls step(cell, *args). If that fails and the cell is not to blame, an earlier one has broken what it takes:
        that is put back. Where this does not help, no later cell would run either, so the worker ends, and the session
        goes on without what broke it."""
        try:
            return _unaudited(step, cell, *args)
        except BaseException as error:
            if _was_interrupted() or _unaudited(self._is_sound, error):
                raise
        try:
            self._integrity.restore_for_runtime()
            self.announce_repairs(cell)
            return _unaudited(step, cell, *args)
        except BaseException as error:
            if _was_interrupted() or _unaudited(self._is_sound, error):
                raise
            _cellar.break_before(cell)  # none of its code has run: it is for the next worker
            give_up(untrusted.describe(error))

    def announce_repairs(self, cell: int) -> None:
        """The first step: puts back what earlier cells have broken, and says so."""
        self._integrity.renew_stdin()
        repaired = self._integrity.restore() + _guarded(self._namespace.restore)
        if repaired:
            _cellar.send_notice(cell, "put back after an earlier cell changed it: " + ", ".join(repaired))

    def _is_sound(self, error):
        """Whether another cell would come to its code, after this one has failed on the way."""
        if issubclass(type(error), (SyntaxError, MemoryError)):
            return True
        try:
            self._compiler.check()
            _guarded(self._integrity.check)
            _guarded(self._namespace.restore)
            self._task.check()
        except BaseException:
            return False
        return True


def give_up(why: str) -> None:
    """Ends the worker, with a reason that its host hears."""
    _write(2, f"cellar: cells have broken this Python: {why}\n".encode("utf-8", "backslashreplace"))
    _exit(1)
