"""Puts back, before each cell, what an earlier cell may have broken: streams, signal handlers, hooks, descriptors,
modules."""
__builtins__ = __import__("builtins").__dict__.copy()

import builtins
import faulthandler
import signal
import sys
from errno import EINVAL

import _cellar
from cellar_runtime.loop_parts import LoopParts
from cellar_runtime.stdin import Stdin
from cellar_runtime.streams import make_stream

_set_wakeup_fd = signal.set_wakeup_fd
_enable_faults, _faults_enabled, _register_dump = (
    faulthandler.enable, faulthandler.is_enabled, faulthandler.register)
_recursion_limit, _set_recursion_limit = sys.getrecursionlimit, sys.setrecursionlimit
_trace, _set_trace, _profile, _set_profile = sys.gettrace, sys.settrace, sys.getprofile, sys.setprofile

_MAX_NAMED = 5  # in a notice
_NAMES, _WHOLE_NAMES, _MISSING = builtins.__dict__, builtins.__dict__.copy(), object()
_MODULES, _CORE_MODULES = sys.modules, ("builtins", "sys", "os", "io", "threading", "asyncio", "__main__")
_LEAST_RECURSION, _USUAL_RECURSION = 200, 1000  # frames; what the runtime itself needs is far below the first
_USUAL_OPEN_FILES = 1024


class Integrity:
    """Owns the worker's streams and knows what the process must look like when a cell starts."""

    def __init__(self, wakeup_fd: int, loop_parts: LoopParts):
        self.wakeup_fd = wakeup_fd  # of the loop: a signal just before it goes to sleep must wake it
        self._loop_parts = loop_parts
        self.stdin = Stdin()
        self._stdout = make_stream(1)
        self._stderr = make_stream(2)
        self._repaired_since = []  # between cells, and not announced yet
        self._modules = _MODULES.copy()
        self._faults = _cellar.faults_fd()
        _register_dump(_cellar.dump_signal(), file=self._faults, all_threads=True, chain=False)
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = self.stdin, self._stdout, self._stderr
        self.restore()

    def restore(self) -> list[str]:
        """Repairs, and names what had to be repaired."""
        repaired, self._repaired_since = self._repaired_since, []
        if _recursion_limit() < _LEAST_RECURSION:  # first: the rest would fail
            _set_recursion_limit(_USUAL_RECURSION)
            repaired.append("the recursion limit")
        repaired += self._restore_modules() + self._restore_streams()
        if _cellar.restore_descriptors():
            repaired.append("file descriptors 0-2")
        if _cellar.restore_interrupts():
            repaired.append("the SIGINT handler")
        try:
            # A loop without signal handlers leaves -1 behind.
            if _set_wakeup_fd(self.wakeup_fd, warn_on_full_buffer=False) not in (-1, self.wakeup_fd):
                repaired.append("the signal wakeup fd")
        except (OSError, ValueError):
            pass  # a cell has closed it: interrupts are then heard a little later
        if not _faults_enabled():
            _enable_faults(file=self._faults, all_threads=True)
            repaired.append("faulthandler")
        if _trace() is not None:
            _set_trace(None)
            repaired.append("sys.settrace")
        if _profile() is not None:
            _set_profile(None)
            repaired.append("sys.setprofile")
        return repaired

    def restore_for_loop(self, failure: Exception, again: bool) -> None:
        """After the loop has failed: puts back what it needs, builtins that cells have removed or replaced, and the
        limit of open files; when it fails again at once, also what it is made of."""
        broken = self.changed_builtins()
        self._repaired_since += shortened([f"builtins.{name}" for name in broken])
        _NAMES.update({name: _WHOLE_NAMES[name] for name in broken})
        if again:
            self._repaired_since += shortened(self._loop_parts.put_back())
        if isinstance(failure, OSError) and failure.errno == EINVAL:
            # poll() refuses to look at more descriptors than may be open.
            _cellar.limit_open_files(_USUAL_OPEN_FILES)
            self._repaired_since.append("the limit of open files")

    def note_repair(self, what: str) -> None:
        """Of what is not put back here; to be announced with the rest."""
        self._repaired_since.append(what)

    def changed_builtins(self) -> list[str]:
        """The names of builtins that cells have removed or replaced."""
        return [name for name, value in _WHOLE_NAMES.items() if _NAMES.get(name, _MISSING) is not value]

    def flush(self) -> None:
        """Flushes what the cell wrote, also into a stream it put in the place of ours."""
        for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None)):
            if stream is not self._stdout and stream is not self._stderr and stream is not None:
                stream.flush()

    def _restore_modules(self):
        if sys.modules is not _MODULES:
            sys.modules = _MODULES
        elif all(name in _MODULES for name in _CORE_MODULES):
            return []
        for name, module in self._modules.items():
            _MODULES.setdefault(name, module)
        return ["sys.modules"]

    def _restore_streams(self):
        repaired = []
        if _is_closed(self._stdout):
            self._stdout = make_stream(1)
        if _is_closed(self._stderr):
            self._stderr = make_stream(2)
        for name, stream in (("stdin", self.stdin), ("stdout", self._stdout), ("stderr", self._stderr)):
            if getattr(sys, name, None) is not stream:
                setattr(sys, name, stream)
                repaired.append(f"sys.{name}")
            for method in ("write", "flush"):
                if stream.__dict__.pop(method, None) is not None:
                    repaired.append(f"sys.{name}.{method}")
        return repaired


def shortened(names: list[str]) -> list[str]:
    """The first few of them, and how many more there are."""
    shown = names[:_MAX_NAMED]
    if len(names) > _MAX_NAMED:
        shown.append(f"{len(names) - _MAX_NAMED} more")
    return shown


def _is_closed(stream):
    try:
        return stream.closed
    except ValueError:  # detached from its buffer
        return True
