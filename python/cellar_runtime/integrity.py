"""Puts back, before each cell, what an earlier cell may have broken: streams, signal handlers, hooks, descriptors,
modules."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import builtins
import faulthandler
import signal
import sys
import time
from _signal import SIGINT as _SIGINT, getsignal as _handler_of
from errno import EINVAL
from types import FunctionType, MethodType

import _cellar
from cellar_runtime import left_timers, display, tracebacks, untrusted  # the first before library
from cellar_runtime.builtin_names import BuiltinNames
from cellar_runtime.library import SYS, Library
from cellar_runtime.loop_parts import LoopParts
from cellar_runtime.stdin import Stdin
from cellar_runtime.streams import make_stream

_set_wakeup_fd = signal.set_wakeup_fd
_enable_faults, _faults_enabled, _register_dump = (
    faulthandler.enable, faulthandler.is_enabled, faulthandler.register)
_TIME, _monotonic, _BUILTINS = time.__dict__, time.monotonic, builtins.__dict__
_guarded, _drop_odd_keys = _cellar.guarded, _cellar.drop_odd_keys
_recursion_limit, _set_recursion_limit = sys.getrecursionlimit, sys.setrecursionlimit
_switch_interval, _set_switch_interval = sys.getswitchinterval, sys.setswitchinterval
_trace, _set_trace, _profile, _set_profile = sys.gettrace, sys.settrace, sys.getprofile, sys.setprofile
_set_running_loop, _is_whole_stream, _unaudited = (
    asyncio._set_running_loop, _cellar.is_whole_stream, _cellar.unaudited)

_MAX_NAMED = 5  # in a notice
_LEAST_RECURSION, _USUAL_RECURSION = 200, 1000  # frames; what the runtime itself needs is far below the first
_USUAL_OPEN_FILES = _cellar.USUAL_OPEN_FILES
_USUAL_SWITCH_INTERVAL, _LONGEST_SWITCH_INTERVAL = sys.getswitchinterval(), 0.2  # seconds


class Integrity:
    """Owns the worker's streams and knows what the process must look like when a cell starts."""

    def __init__(self, wakeup_fd: int, loop_parts: LoopParts):
        self.wakeup_fd = wakeup_fd  # of the loop: a signal just before it goes to sleep must wake it
        self._loop_parts = loop_parts
        self._library = Library()
        self._builtins = BuiltinNames()
        self.stdin = Stdin()
        self._stdout = make_stream(1)
        self._stderr = make_stream(2)
        self._ask = None
        self._repaired_since = []  # between cells, and not announced yet
        self._faults = _cellar.faults_fd()
        _register_dump(_cellar.dump_signal(), file=self._faults, all_threads=True, chain=False)
        self.restore()

    def answer_stdin(self, ask) -> None:
        """What stdin asks for its lines."""
        self._ask = self.stdin.ask = ask

    def renew_stdin(self) -> None:
        """Before each cell."""
        is_whole = type(self.stdin) is Stdin and not _drop_odd_keys(self.stdin.__dict__) and Stdin.renew(self.stdin)
        if not is_whole:  # a cell has taken it apart
            self.stdin = Stdin()
            self.stdin.ask = self._ask

    def keep_threads_switching(self) -> None:
        """After each cell: with a long interval its threads would hold up what runs between cells, and the next one."""
        if _switch_interval() > _LONGEST_SWITCH_INTERVAL:
            _set_switch_interval(_USUAL_SWITCH_INTERVAL)
            self._repaired_since.append("sys.setswitchinterval")

    def stop_timers(self) -> None:
        """After each cell: those that it has left running."""
        left_timers.stop()

    def take_stopped_timers(self) -> bool:
        """Whether there were any."""
        return left_timers.take_stopped()

    def restore(self) -> list[str]:
        """Repairs, and names what had to be repaired."""
        repaired, self._repaired_since = self._repaired_since, []
        if _recursion_limit() < _LEAST_RECURSION:  # first: the rest would fail
            _set_recursion_limit(_USUAL_RECURSION)
            repaired.append("the recursion limit")
        # One that is no plain string could hang, or raise, as soon as a name is looked up that has its hash.
        for name, names in (("sys", SYS), ("builtins", _BUILTINS), ("sys.stdout", self._stdout.__dict__),
                            ("sys.stderr", self._stderr.__dict__)):
            if _drop_odd_keys(names):
                repaired.append(f"the keys of {name}")
        repaired += shortened(self._builtins.put_back_broken())
        repaired += self._library.put_back_modules()
        if _TIME.get("monotonic") is not _monotonic:
            _restore_clock(repaired)
        self._restore_streams(repaired)
        if _cellar.restore_descriptors():
            repaired.append("file descriptors 0-2")
        is_of_pdb = _is_of_pdb(_handler_of(_SIGINT))
        if _cellar.restore_interrupts() and not is_of_pdb:
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

    def check(self) -> None:
        """Restores; raises where that is not possible."""
        self._repaired_since = self.restore()

    def restore_for_loop(self, failure: BaseException, again: bool) -> None:
        """After the loop has failed: puts back what it needs, builtins that cells have removed or replaced, and the
        limit of open files; when it fails again at once, also what it is made of."""
        self._restore_builtins()
        if again:
            _set_running_loop(None)  # it has left without saying so, if that is what is broken
            self._restore_parts()
        if isinstance(failure, OSError) and failure.errno == EINVAL:
            # poll() refuses to look at more descriptors than may be open.
            _cellar.limit_open_files(_USUAL_OPEN_FILES)
            self._repaired_since.append("the limit of open files")

    def restore_for_runtime(self) -> None:
        """After the runtime itself has failed: puts back all that it is known to need."""
        self._restore_builtins()
        self._restore_parts()

    def restore_for_magics(self) -> bool:
        """After they have failed, which use much of the library: puts all of it back. Whether there was anything to do."""
        before = len(self._repaired_since)
        self.restore_for_runtime()
        self._repaired_since += shortened(self._library.put_back_values())
        return len(self._repaired_since) > before

    def note_repair(self, what: str) -> None:
        """Of what is not put back here; to be announced with the rest."""
        self._repaired_since.append(what)

    def changed_builtins(self) -> list[str]:
        """The names of builtins that cells have removed or replaced."""
        return self._builtins.changed()

    def put_back_failing(self, error: BaseException, interrupted: bool) -> None:
        """After an error of a cell: puts back the builtins in which it arose, and removes audit hooks in which it did,
        unless they refuse only what they mean to refuse."""
        hooks = _cellar.audit_hooks()
        if not hooks and not self.changed_builtins():
            return
        is_hooked = _unaudited(self._put_back_builtins, error, hooks)
        if is_hooked and (interrupted or not _can_compile()):
            self._remove_audit_hooks()

    def _put_back_builtins(self, error, hooks):
        """Whether the error arose in one of the hooks."""
        codes = tracebacks.codes_of(error)
        self._repaired_since += self._builtins.put_back_failing(codes)
        return any(id(untrusted.code_of(hook)) in codes for hook in hooks)

    def flush(self) -> list[str]:
        """Flushes what the cell wrote, also into a stream that it put in the place of ours. What could not be written, one
        phrase each."""
        failures = []
        for name, own in (("stdout", self._stdout), ("stderr", self._stderr)):
            stream = SYS.get(name)
            if not _is_whole_stream(own):  # or it keeps nothing back
                _flush(own, name, failures)
            if stream is not self._stdout and stream is not self._stderr:
                _flush(stream, name, failures)
        return failures

    def _restore_builtins(self):
        self._repaired_since += shortened(self._builtins.put_back(self._builtins.changed()))

    def _remove_audit_hooks(self):
        _cellar.remove_audit_hooks()
        self._repaired_since.append("audit hooks")

    def _restore_parts(self):
        if _cellar.audit_hooks():
            self._remove_audit_hooks()  # they may refuse or hold up anything
        self._repaired_since += self._library.put_back_classes()
        self._repaired_since += shortened(self._loop_parts.put_back() + self._library.put_back_names())

    def _restore_streams(self, repaired):
        replaced = self._put_streams_in_place()
        # Only now: a stream that a cell has put around the buffer of ours closes that when it goes.
        if not _is_whole_stream(self._stdout):
            self._stdout = make_stream(1)
        if not _is_whole_stream(self._stderr):
            self._stderr = make_stream(2)
        replaced |= self._put_streams_in_place()
        repaired += (f"sys.{name}" for name in ("stdin", "stdout", "stderr") if name in replaced)
        for name, stream in (("stdin", self.stdin), ("stdout", self._stdout), ("stderr", self._stderr)):
            for method in ("write", "flush"):
                if stream.__dict__.pop(method, None) is not None:
                    repaired.append(f"sys.{name}.{method}")
        if display.end_redirection():  # of a cell that was interrupted just as it began to capture
            repaired.append("display")

    def _put_streams_in_place(self):
        """The names of those that were not."""
        replaced = set()
        for name, stream in (("stdin", self.stdin), ("stdout", self._stdout), ("stderr", self._stderr)):
            if SYS.get(name) is not stream:
                SYS[name] = SYS[f"__{name}__"] = stream
                replaced.add(name)
        return replaced


def _is_of_pdb(handler):
    """pdb leaves its own behind when it is told to continue; whoever uses it has broken nothing."""
    function = handler.__func__ if type(handler) is MethodType else None
    return type(function) is FunctionType and function.__code__.co_qualname == "Pdb.sigint_handler"


def _flush(stream, name, failures):
    try:
        flush = getattr(stream, "flush", None)
        if callable(flush) and not getattr(stream, "closed", False):
            flush()
    except untrusted.FAILURES as error:
        failures.append(f"sys.{name} could not be flushed: {untrusted.describe(error)}")


def _restore_clock(repaired):
    """Timers of the loop go by it. A cell may have one of its own, if it is one."""
    is_clock = False
    try:
        is_clock = type(_guarded(_TIME["monotonic"])) is float
    except untrusted.FAILURES:
        pass
    finally:  # also when it hangs, and is interrupted
        if not is_clock:
            _TIME["monotonic"] = _monotonic
            repaired.append("time.monotonic")


def shortened(names: list[str]) -> list[str]:
    """The first few of them, and how many more there are."""
    shown = names[:_MAX_NAMED]
    if len(names) > _MAX_NAMED:
        shown.append(f"{len(names) - _MAX_NAMED} more")
    return shown


def _can_compile():
    try:
        _cellar.guarded(compile, "0", "<check>", "eval")
    except BaseException:
        return False
    return True
