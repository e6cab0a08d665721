"""The worker's Python half: builds what a session is made of, and serves the channel, over which the host asks for cells
and for all else. How a cell runs is the runner's."""
__builtins__ = __import__("builtins").__dict__.copy()

# Not used here, but first: `library` remembers, and can put back, only what is loaded when it is imported itself.
import asyncio
import atexit
import os
import signal
import sys
from functools import partial

import _cellar
from cellar_runtime import uncaught  # puts its hooks into modules that `library` remembers, which the next one imports
import cellar_prelude
from cellar_runtime import (
    bridge, cell_origin, display, exit_cleanup, figures, host_requests, import_hooks, ipython_display, late_import,
    snapshot, stdin)
from cellar_runtime.cell_origin import CELL
from cellar_runtime.cell_task import CellTask
from cellar_runtime.integrity import Integrity
from cellar_runtime.loop_driver import LoopDriver
from cellar_runtime.namespace import Namespace
from cellar_runtime.runner import Runner
from cellar_runtime.session_loop import make_loop
from cellar_runtime.user_modules import UserModules

_exit, _current_frames, _set_wakeup_fd = os._exit, sys._current_frames, signal.set_wakeup_fd
_environment, _chdir, _fsdecode = os.environb, os.chdir, os.fsdecode

_DisplayKind = _cellar.DisplayKind
_DISPLAY_KINDS = {"display": _DisplayKind.DISPLAY, "update": _DisplayKind.UPDATE, "result": _DisplayKind.RESULT,
                  "clear": _DisplayKind.CLEAR, "status": _DisplayKind.STATUS}
_TURNS_TO_SETTLE_IN = 5  # of the loop, in a copy


class Worker:
    """Made in the template, and run in each worker that is forked from it."""

    def __init__(self):
        self._loop = make_loop()
        self._task = CellTask(self._loop)
        # Before there are streams and handlers to put back.
        _cellar.install(CELL, cell_origin.of_thread, self._task.cancel)
        cell_origin.mark_threads()
        self._namespace = Namespace(cellar_prelude.names())
        self._integrity = Integrity(self._loop.wakeup_fd(), self._loop.parts())
        self._driver = LoopDriver(self._loop, self._integrity)
        self._user_modules = UserModules(self._namespace)
        self._runner = Runner(self._loop, self._task, self._namespace, self._integrity, self._user_modules)
        self._is_new_copy = False
        names = self._namespace.globals
        self._requests = {  # what answers each, by the name that _cellar.receive() gives it
            "setup": self._on_setup,
            "enter": self._on_enter,
            "execute": self._runner.execute,
            "set": partial(host_requests.bind, names),
            "get": partial(host_requests.read, names),
            "query": partial(host_requests.query, names),
            "copy": self._on_copy,
            "forked_child": self._on_forked_child,
            "exit": self._driver.stop,
        }
        display.install(_publish)
        bridge.host.install(self._runner.run_nested)
        cellar_prelude.bridge.connect(bridge.host)
        self._integrity.answer_stdin(bridge.host.ask_line)
        import_hooks.after_import("getpass", stdin.hook_getpass(self._integrity.stdin))
        self._loop.listen(_cellar.channel_fd(), self._on_readable)

    def begin(self) -> None:
        """In a forked worker, before it knows its host."""
        self._loop.renew_self_pipe()
        self._integrity.wakeup_fd = self._loop.wakeup_fd()
        self._integrity.restore()
        os.register_at_fork(after_in_child=self._after_fork_in_child)

    def run(self) -> None:
        """The life of a forked worker with its host, until that asks for the end."""
        self._driver.run()
        atexit._run_exitfuncs()
        exit_cleanup.flush_files()  # before what may take longer than the host waits
        if len(_current_frames()) == 1:  # or a thread would miss what it works with
            self._namespace.let_go()
            exit_cleanup.flush_files()

    def rehearse(self) -> None:
        """In the template: runs the cell that waits in the channel, with a request to exit behind it."""
        self._driver.run()
        if self._task.current is not None:
            self._loop.run_until_complete(self._task.current)

    def forget(self) -> None:
        """Ends the rehearsal: nothing of its cells is left."""
        self._runner.forget()

    def _on_readable(self):
        failure = None
        for kind, *fields in _cellar.receive():
            try:
                self._requests[kind](*fields)
            except BaseException as error:
                failure = error  # the loop says so, when what came with it is done
            if self._is_new_copy:
                self._is_new_copy = False
                break  # what follows was said to the original
        if failure is not None:
            raise failure

    def _on_setup(self, cwd, environment, path, memory_cap, open_files):
        try:
            _set_variables(environment)
            os.environ.setdefault("MPLBACKEND", "Agg")
            _chdir(cwd)
            sys.path[:0] = [_fsdecode(entry) for entry in (cwd, *path)]
            _cellar.cap_memory(memory_cap)
            _cellar.limit_open_files(open_files)
            snapshot.reseed_numpy()
            self._user_modules.look_in(os.environ.get("HOME"), _fsdecode(cwd))
        except OSError as error:
            _cellar.send_hello(f"the session's directory {_fsdecode(cwd)}: {error.strerror}" if error.filename == cwd
                               else str(error))
            _exit(1)  # cells that wait in the channel already must not run
        else:
            _cellar.send_hello("")

    def _on_enter(self, cwd, environment):
        try:
            _set_variables(environment)
            if cwd:
                path = _fsdecode(cwd)
                _chdir(path)
                sys.path[:] = [path, *(entry for entry in sys.path if entry != path)]
        except Exception as error:  # also of a sys.path that a cell has replaced
            self._runner.refuse_next(error)

    def _on_copy(self):
        if snapshot.make_copy(self._loop, self._integrity):
            bridge.host.fail_awaited()
            self._is_new_copy = True
            self._settle_in(_TURNS_TO_SETTLE_IN)

    def _settle_in(self, turns):
        """A timer that is due, or a task that it wakes, may end or block this copy. Then the host does not hear of it."""
        if turns:
            self._loop.call_soon(self._settle_in, turns - 1)
        else:
            _cellar.send_hello("")

    def _after_fork_in_child(self):
        """In a process that a cell forked: the channel belongs to the worker."""
        if snapshot.is_copying():
            return
        self._loop.remove_reader(_cellar.channel_fd())
        if not self._task.is_running():
            self._loop.call_soon(_exit, 0)
        _set_wakeup_fd(-1)  # the socket is the worker's

    def _on_forked_child(self):
        """A cell has forked by a way of its own, so that _after_fork_in_child was not called."""
        if self._task.current is None:
            _exit(0)
        self._loop.remove_reader(_cellar.channel_fd())
        _set_wakeup_fd(-1)


def build() -> Worker:
    """Called once, in the template, when everything is imported. Its forks run it."""
    worker = Worker()
    late_import.remember()
    return worker


def _publish(kind, entries, metadata, display_id):
    _cellar.send_display(_DISPLAY_KINDS[kind], _cellar.current_cell(), entries, metadata, display_id)


def _set_variables(environment):
    for name, value in environment:
        if value is None:
            _environment.pop(name, None)
        else:
            _environment[name] = value


figures.install()
ipython_display.install()
