"""The life of a cell, from its text to the message that it is done.

It begins: from now on interrupts and output are its own. What earlier cells have broken is put back, the user's modules
are loaded, the text is compiled. A plain cell runs here and now, one that awaits as a task of the loop, and the value of
its last expression is shown. An error on the way is sent. Then the cell is finished, however it went: its timers are
stopped, its figures shown, its streams flushed; it ends, and the host hears that it is done.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import contextvars
import os

import _cellar
from cellar_runtime import cell_errors, display, figures
from cellar_runtime.cell_compiler import CellCompiler
from cellar_runtime.cell_origin import CELL
from cellar_runtime.session_loop import listen_again
from cellar_runtime.source import is_coroutine
from cellar_runtime.stdin import set_requested, was_requested
from cellar_runtime.sure_steps import SureSteps, give_up

_exit, _NAMES = os._exit, globals()
_guarded, _unaudited, _run_code = _cellar.guarded, _cellar.unaudited, _cellar.run_code
_GuardedCoroutine = _cellar.GuardedCoroutine
_send_done, _begin_cell, _end_cell = _cellar.send_done, _cellar.begin_cell, _cellar.end_cell
_linger, _is_forked_child = _cellar.linger, _cellar.is_forked_child
_hold_memory, _relax_memory, _keep_open_files = _cellar.hold_memory, _cellar.relax_memory, _cellar.keep_open_files
_OK, _ERROR, _HELD = _cellar.DoneStatus.OK, _cellar.DoneStatus.ERROR, _cellar.DoneStatus.HELD


class Runner:
    """Runs one cell at a time, and nested ones while it waits for the host. Their own code is called by guarded(): there,
    and nowhere else, an interrupt is raised."""

    def __init__(self, loop, task, namespace, integrity, user_modules):
        self._loop = loop
        self._task = task  # of the running cell, if it awaits
        self._namespace = namespace
        self._integrity = integrity
        self._user_modules = user_modules
        self._context = contextvars.copy_context()
        self._compiler = CellCompiler(namespace, integrity)
        self._steps = SureSteps(integrity, namespace, self._compiler, task)
        self._surely = self._steps.take
        self._refusal = None  # why the next cell cannot run
        self._unfinished = None  # the running cell
        self._is_entered = False  # its context

    def forget(self) -> None:
        """Nothing of the cells so far is left."""
        self._context = contextvars.copy_context()
        self._compiler.forget()
        self._namespace.reset()

    def refuse_next(self, error: BaseException) -> None:
        """The next cell ends with this error, and does not run."""
        self._refusal = error

    def execute(self, cell: int, code: bytes) -> None:
        """Returns when the cell is done, or its task is made."""
        self._unfinished = cell
        try:
            self._enter(cell, str(code, "utf-8", "replace"))
        except BaseException as error:
            # A cell's signal handler raises wherever it is called, also while its cell is given its end.
            if self._unfinished is not None and self._task.current is None:
                status = _ERROR
                try:
                    status = self._fail(cell, error)
                finally:
                    self._finish(cell, status)

    def _enter(self, cell, text):
        self._is_entered = False
        try:
            return self._context.run(self._run_cell, cell, text)
        except RuntimeError:
            if self._is_entered:
                raise
        self._context = self._context.copy()  # a thread has entered it, which has it from a cell
        self._context.run(self._run_cell, cell, text)

    def _run_cell(self, cell, text):
        """Runs a plain cell to its end, here and now. One that awaits becomes a task: that costs two turns of the loop."""
        self._is_entered = True
        CELL.set(cell)
        _NAMES.pop("__warningregistry__", None)  # of warnings that point above the cell; see Namespace.restore
        interrupted = _begin_cell(cell)
        status = _OK
        try:
            self._surely(self._steps.announce_repairs, cell)
            if interrupted:
                raise KeyboardInterrupt
            if self._refusal is not None:
                error, self._refusal = self._refusal, None
                raise error
            self._user_modules.load(cell)
            program = self._surely(self._compiler.compile, cell, text)
            _hold_memory()
            if program.awaits:
                self._surely(self._begin_task, cell, program)
                return
            self._run_plain(cell, program)
        except BaseException as error:
            status = self._fail(cell, error)
        self._finish(cell, status)

    def _run_plain(self, cell, program):
        if program.body is not None:
            _guarded(_run_code, program.body, self._namespace.globals)
        if program.value is not None:
            self._take_result(cell, program, _guarded(_run_code, program.value, self._namespace.globals))

    def _begin_task(self, cell, program):
        self._task.begin(self._run_awaiting(cell, program), self._context)

    async def _run_awaiting(self, cell, program):
        status = _OK
        try:
            for code in (program.body, program.value):
                if code is None:
                    value = None
                elif is_coroutine(code):
                    value = await _GuardedCoroutine(_run_code(code, self._namespace.globals))
                else:
                    value = _guarded(_run_code, code, self._namespace.globals)
            self._take_result(cell, program, value)
        except BaseException as error:
            status = _ERROR
            status = self._fail(cell, error)
        finally:
            self._task.current = None
            self._finish(cell, status)

    def _take_result(self, cell, program, value):
        if value is not None and not program.quiet and not _is_forked_child():
            CELL.set(cell)  # the cell may have set it to another
            _guarded(self._namespace.remember_result, cell, value)
            _guarded(_unaudited, display.publish_result, value)

    def _fail(self, cell, error):
        """Sends the error; returns the cell's status."""
        _relax_memory()  # or nothing of what follows may be possible
        self._integrity.stop_timers()  # before anything else: see execute
        return cell_errors.report(cell, error, self._integrity)

    def _finish(self, cell, status):
        _relax_memory()
        if _is_forked_child():
            _exit(0)
        stdin_requested = False
        try:
            self._integrity.stop_timers()
            stdin_requested = was_requested(self._integrity.stdin)
            if listen_again(self._loop):
                self._integrity.wakeup_fd = self._loop.wakeup_fd()
                self._integrity.note_repair("the event loop")
            self._keep_open_files()
            self._integrity.keep_threads_switching()
            _guarded(figures.flush_figures)
            for failure in _guarded(self._integrity.flush):
                _cellar.send_notice(cell, failure)
        except BaseException as error:
            if status == _OK:
                status = cell_errors.report(cell, error, self._integrity)
        if self._integrity.take_stopped_timers():
            _cellar.send_notice(cell, "a timer that was left running (signal.alarm, signal.setitimer, timer_create, "
                                "faulthandler.dump_traceback_later) was stopped")
        self._unfinished = None
        _end_cell()
        _send_done(cell, status, stdin_requested)
        _linger()

    def _keep_open_files(self):
        # poll() refuses to look at more descriptors than may be open.
        is_kept = _keep_open_files(self._loop.count_fds())
        if is_kept:
            self._integrity.note_repair("the limit of open files")
        elif is_kept is not None:
            # Before the cell is done, and its state said to be kept.
            give_up("the limit of open files is too low, and cannot be raised again")

    def run_nested(self, cell: int, code: bytes) -> None:
        """Runs a cell for the host, inside the wait of another one, whose beginning and finish do for both. It cannot
        await: the loop is held meanwhile."""
        stdin = self._integrity.stdin
        stdin_was_requested = was_requested(stdin)
        set_requested(stdin, False)
        token = CELL.set(cell)
        status = _OK
        try:
            program = self._compiler.compile(cell, str(code, "utf-8", "replace"))
            if program.awaits:
                status = _HELD
            else:
                self._run_plain(cell, program)
        except BaseException as error:
            status = cell_errors.report(cell, error, self._integrity)
        if _is_forked_child():
            _exit(0)
        CELL.reset(token)
        _send_done(cell, status, was_requested(stdin))
        set_requested(stdin, stdin_was_requested)
