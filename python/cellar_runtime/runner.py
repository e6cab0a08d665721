"""Runs cells, one at a time, inside the session's event loop, which goes on between them."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import atexit
import contextvars
import os
import signal
import sys

import _cellar
import cellar_prelude
from cellar_runtime import (
    bridge, cell_errors, cell_origin, cell_sources, display, exit_cleanup, figures, host_requests, import_hooks,
    ipython_display, late_import, snapshot, stdin, tracebacks, untrusted, user_modules)
from cellar_runtime.cell_origin import CELL
from cellar_runtime.integrity import Integrity, shortened
from cellar_runtime.memory_limit import MemoryLimit
from cellar_runtime.namespace import Namespace
from cellar_runtime.session_loop import make_loop
from cellar_runtime.source import Compiler, is_coroutine, with_plain_newlines

_current_task, _leave_task = asyncio.current_task, asyncio.tasks._leave_task
_exit, _write, _current_frames = os._exit, os.write, sys._current_frames
_environment, _chdir, _fsdecode = os.environb, os.chdir, os.fsdecode
_Task = asyncio.Task  # made without the loop's factory, which cells may set
_guarded, _unaudited, _run_code = _cellar.guarded, _cellar.unaudited, _cellar.run_code
_GuardedCoroutine = _cellar.GuardedCoroutine
_set_wakeup_fd, _take_pending_interrupt = signal.set_wakeup_fd, _cellar.take_pending_interrupt
_send_done, _begin_cell, _end_cell = _cellar.send_done, _cellar.begin_cell, _cellar.end_cell
_linger, _stop_timers, _was_interrupted = _cellar.linger, _cellar.stop_timers, _cellar.was_interrupted
_is_forked_child = _cellar.is_forked_child

_DoneStatus, _DisplayKind = _cellar.DoneStatus, _cellar.DisplayKind
_OK, _ERROR, _INTERRUPTED, _HELD = _DoneStatus.OK, _DoneStatus.ERROR, _DoneStatus.INTERRUPTED, _DoneStatus.HELD
_DISPLAY_KINDS = {"display": _DisplayKind.DISPLAY, "update": _DisplayKind.UPDATE, "result": _DisplayKind.RESULT,
                  "clear": _DisplayKind.CLEAR, "status": _DisplayKind.STATUS}
_TURNS_TO_SETTLE_IN = 5  # of the loop, in a copy
_MAX_FAILURES = 10  # of the loop in a row, without a single turn
_MAX_EXITS = 1000  # the same, by SystemExit or KeyboardInterrupt: each may be that of a callback that was waiting


class Runner:
    """One worker: its loop, its namespace, and the requests that come over the channel. Made in the template, and run in
    each worker that is forked from it."""

    def __init__(self):
        self._loop = make_loop()
        self._context = contextvars.copy_context()
        self._compiler = Compiler()
        self._task = None  # of the running cell, if it awaits
        self._unfinished = None  # the running cell
        self._had_timers = False  # when it ended
        self._exiting = False
        self._module_directories = []  # until the first cell has looked into them
        self._modules = []  # that are still to be loaded
        self._enter_error = None  # why the directory of the next cell could not be entered
        self._is_new_copy = False
        self._failures = 0  # of the loop since its last turn
        self._memory_limit = MemoryLimit()
        _cellar.install(CELL, cell_origin.of_thread, self._cancel)
        cell_origin.mark_threads()
        self._namespace = Namespace(cellar_prelude.names())
        self._integrity = Integrity(self._loop.wakeup_fd(), self._loop.parts())
        display.install(_publish)
        bridge.host.install(self._run_nested)
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
        """The life of a forked worker with its host."""
        self._serve()
        atexit._run_exitfuncs()
        exit_cleanup.flush_files()  # before what may take longer than the host waits
        if len(_current_frames()) == 1:  # or a thread would miss what it works with
            self._namespace.let_go()
            exit_cleanup.flush_files()
        exit_cleanup.stop_resource_tracker()

    def rehearse(self) -> None:
        """In the template: runs the cell that waits in the channel."""
        self._serve()
        if self._task is not None:
            self._loop.run_until_complete(self._task)
        self._exiting = False

    def forget(self) -> None:
        """Ends the rehearsal: nothing of its cells is left."""
        self._context = contextvars.copy_context()
        self._compiler = Compiler()
        self._namespace.reset()
        cell_sources.forget()

    def _serve(self):
        """Serves the channel until the host asks for the end."""
        failure = None
        while not self._exiting:
            try:
                if failure is not None:
                    cause, failure = failure, None
                    self._integrity.restore_for_loop(cause, again=self._failures > 1)
                self._loop.call_soon(self._on_turn)
                self._loop.run_forever()
            except BaseException as error:
                # A cell has broken what asyncio needs; if it cannot be put back, the loop will fail for ever. Or a
                # cell's signal handler has raised, which it does wherever it is called: hence no more is done here.
                self._failures += 1
                if issubclass(type(error), SystemExit) and self._failures == 1:
                    continue  # of a task or callback that is not the cell's; the loop itself is sound
                failure = error
                is_exit = issubclass(type(error), (KeyboardInterrupt, SystemExit))
                if self._failures > (_MAX_EXITS if is_exit else _MAX_FAILURES):
                    raise

    def _on_turn(self):
        self._failures = 0

    def _on_readable(self):
        failure = None
        for kind, *fields in _cellar.receive():
            try:
                getattr(self, "_on_" + kind)(*fields)
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
            self._memory_limit.set(memory_cap)
            _cellar.limit_open_files(open_files)
            snapshot.reseed_numpy()
            self._module_directories = user_modules.directories(os.environ.get("HOME"), _fsdecode(cwd))
        except OSError as error:
            _cellar.send_hello(str(error))
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
            self._enter_error = error

    def _on_exit(self):
        self._exiting = True
        self._loop.stop()

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

    def _on_execute(self, cell, code):
        self._unfinished = cell
        try:
            self._context.run(self._run_cell, cell, code.decode("utf-8", "replace"))
        except BaseException as error:
            # A cell's signal handler raises wherever it is called, also while its cell is given its end.
            if self._unfinished is not None and self._task is None:
                status = _ERROR
                try:
                    status = self._fail(cell, error)
                finally:
                    self._finish(cell, status)

    def _run_cell(self, cell, text):
        """Runs a plain cell to its end, here and now. One that awaits becomes a task: that costs two turns of the loop."""
        CELL.set(cell)
        interrupted = _begin_cell(cell)
        status = _OK
        try:
            self._surely(self._announce_repairs, cell)
            if interrupted:
                raise KeyboardInterrupt
            if self._enter_error is not None:
                error, self._enter_error = self._enter_error, None
                raise error
            self._load_modules(cell)
            program = self._surely(self._compile, cell, text)
            self._memory_limit.hold()
            if program.awaits:
                self._task = self._surely(self._make_task, cell, program)
                return
            self._run_plain(cell, program)
        except BaseException as error:
            status = self._fail(cell, error)
        self._finish(cell, status)

    def _surely(self, step, cell, *args):
        """Takes a step on the way to the cell's own code. If that fails and the cell is not to blame, an earlier one has
        broken what it takes: that is put back. Where this does not help, no later cell would run either, so the worker
        ends, and the session goes on without what broke it."""
        try:
            return _unaudited(step, cell, *args)
        except BaseException as error:
            if _was_interrupted() or _unaudited(self._is_sound, error):
                raise
        self._integrity.restore_for_runtime()
        try:
            self._announce_repairs(cell)
            return _unaudited(step, cell, *args)
        except BaseException as error:
            if _was_interrupted() or _unaudited(self._is_sound, error):
                raise
            _give_up(error)

    def _is_sound(self, error):
        """Whether another cell would come to its code, after this one has failed on the way."""
        if issubclass(type(error), (SyntaxError, MemoryError)):
            return True
        try:
            _guarded(self._compiler.compile, "<check>", "0\n0")
            _guarded(self._integrity.check)
            _guarded(self._namespace.restore)
            _Task(_nothing(), loop=self._loop)
        except BaseException:
            return False
        return True

    def _make_task(self, cell, program):
        stranger = _current_task(self._loop)
        if stranger is not None:
            _leave_task(self._loop, stranger)  # a cell has entered it, and no other task could begin
        running = self._run_awaiting(cell, program)
        try:
            return _Task(running, loop=self._loop, context=self._context)
        except BaseException:
            running.close()
            raise

    def _run_plain(self, cell, program):
        if program.body is not None:
            _guarded(_run_code, program.body, self._namespace.globals)
        if program.value is not None:
            self._take_result(cell, program, _guarded(_run_code, program.value, self._namespace.globals))

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
            self._task = None
            self._finish(cell, status)

    def _compile(self, cell, text):
        name = f"<cell {cell}>"
        text = with_plain_newlines(text)
        self._namespace.remember_input(cell, text)
        cell_sources.register(name, text)
        return _guarded(self._compile_text, name, text)

    def _compile_text(self, name, text):
        try:
            return self._compiler.compile(name, text)
        except SyntaxError:
            program = self._compile_magics(name, text)
            if program is None:
                raise
            return program

    def _compile_magics(self, name, text):
        for is_last in (False, True):
            try:
                magics = late_import.load("cellar_runtime.magics")
                return magics.compile_cell(self._compiler, self._namespace, name, text)
            except SyntaxError:
                raise
            except Exception:
                if is_last or not self._integrity.restore_for_magics():
                    raise

    def _take_result(self, cell, program, value):
        if value is not None and not program.quiet and not _is_forked_child():
            _guarded(self._namespace.remember_result, cell, value)
            _guarded(_unaudited, display.publish_result, value)

    def _fail(self, cell, error):
        self._had_timers |= _stop_timers()  # first of all: see _on_execute
        self._memory_limit.relax()
        return self._report(cell, error)

    def _finish(self, cell, status):
        if _is_forked_child():
            _exit(0)
        try:
            self._had_timers |= _stop_timers()
            self._memory_limit.relax()
            if self._loop.listen_again():
                self._integrity.wakeup_fd = self._loop.wakeup_fd()
                self._integrity.note_repair("the event loop")
            _guarded(figures.flush_figures)
            for failure in _guarded(self._integrity.flush):
                _cellar.send_notice(cell, failure)
        except BaseException as error:
            if status == _OK:
                status = self._report(cell, error)
        if self._had_timers:
            self._had_timers = False
            _cellar.send_notice(cell, "a timer that was left running (signal.alarm, signal.setitimer) was stopped")
        self._unfinished = None
        _end_cell()
        _send_done(cell, status, self._integrity.stdin.requested)
        _linger()

    def _load_modules(self, cell):
        # Here and not at the start, so that one that hangs is in reach of the cell's time-out.
        if self._module_directories:
            self._modules = user_modules.find(self._module_directories)
            self._module_directories = []
        while self._modules:
            path = self._modules.pop(0)
            try:
                _guarded(user_modules.load, path, self._namespace.globals)
            except untrusted.FAILURES as error:
                ename, evalue = _guarded(tracebacks.format_error, error)[:2]
                _cellar.send_notice(cell, f"the module {untrusted.valid_text(path)} failed: {ename}: {evalue}")
            except BaseException:
                _cellar.send_notice(cell, f"the module {untrusted.valid_text(path)} was interrupted")
                raise
            finally:
                self._namespace.keep_helpers()

    def _run_nested(self, cell, code):
        """Runs a cell for the host, inside the wait of another one. It cannot await: the loop is held meanwhile."""
        stdin = self._integrity.stdin
        stdin_requested, stdin.requested = stdin.requested, False
        token = CELL.set(cell)
        status = _OK
        try:
            program = self._compile(cell, code.decode("utf-8", "replace"))
            if program.awaits:
                status = _HELD
            else:
                self._run_plain(cell, program)
        except BaseException as error:
            status = self._report(cell, error)
        if _is_forked_child():
            _exit(0)
        CELL.reset(token)
        _send_done(cell, status, stdin.requested)
        stdin.requested = stdin_requested

    def _report(self, cell, error):
        """Sends the error of a cell; returns the cell's status."""
        interrupted = _unaudited(cell_errors.send, cell, error)
        self._integrity.put_back_failing(error, interrupted)
        self._announce_changed_builtins(cell)
        return _INTERRUPTED if interrupted else _ERROR

    def _announce_changed_builtins(self, cell):
        """A cell may replace them, so they stay; but that may be why this one failed."""
        changed = self._integrity.changed_builtins()
        if changed:
            _cellar.send_notice(cell, f"builtins that cells have changed: {', '.join(shortened(changed))}")

    def _announce_repairs(self, cell):
        self._integrity.renew_stdin()
        repaired = self._integrity.restore() + _guarded(self._namespace.restore)
        if repaired:
            _cellar.send_notice(cell, "put back after an earlier cell changed it: " + ", ".join(repaired))

    def _cancel(self, insist):
        """Called on the main thread when the running cell is interrupted while other code runs. See interrupts.h."""
        task = self._task
        if task is None:
            return False
        self._loop.call_soon_threadsafe(self._cancel_task, task)
        # Insisting: whatever keeps the loop busy is in the way, unless it is this module finishing the cell.
        return insist and _current_task(self._loop) is not task

    def _cancel_task(self, task):
        # Unless the cell's own code ran on meanwhile and has had its KeyboardInterrupt.
        if task is self._task and _take_pending_interrupt():
            task.cancel()

    def _on_forked_child(self):
        """A cell has forked by a way of its own, so that _after_fork_in_child was not called."""
        if self._task is None:
            _exit(0)
        self._loop.remove_reader(_cellar.channel_fd())
        _set_wakeup_fd(-1)

    def _on_set(self, *request):
        host_requests.bind(self._namespace.globals, *request)

    def _on_get(self, *request):
        host_requests.read(self._namespace.globals, *request)

    def _on_query(self, *request):
        host_requests.query(self._namespace.globals, *request)

    def _after_fork_in_child(self):
        """In a process that a cell forked: the channel belongs to the worker."""
        if snapshot.is_copying():
            return
        self._loop.remove_reader(_cellar.channel_fd())
        if self._task is None or _current_task(self._loop) is not self._task:
            self._loop.call_soon(_exit, 0)
        _set_wakeup_fd(-1)  # the socket is the worker's


worker = None  # the one that the template has built, and its forks run


def build() -> None:
    """Called once, in the template, when everything is imported."""
    global worker
    worker = Runner()
    late_import.remember()


def _publish(kind, entries, metadata, display_id):
    _cellar.send_display(_DISPLAY_KINDS[kind], _cellar.current_cell(), entries, metadata, display_id)


def _set_variables(environment):
    for name, value in environment:
        if value is None:
            _environment.pop(name, None)
        else:
            _environment[name] = value


async def _nothing():
    """For a task that is made only to see whether one can be made."""


def _give_up(error):
    reason = f"cellar: cells have broken this Python: {untrusted.describe(error)}\n"
    _write(2, reason.encode("utf-8", "backslashreplace"))
    _exit(1)


figures.install()
ipython_display.install()
