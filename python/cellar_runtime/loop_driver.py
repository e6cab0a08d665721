"""Keeps the session's event loop going: it fails when a cell has broken what it is made of, and is left by whatever a
callback raises."""
__builtins__ = __import__("builtins").__dict__.copy()

from cellar_runtime.session_loop import mend_failed

_MAX_FAILURES = 10  # of the loop in a row, without a single turn
_MAX_EXITS = 1000  # the same, by SystemExit or KeyboardInterrupt: each may be that of a callback that was waiting


class LoopDriver:
    def __init__(self, loop, integrity):
        self._loop = loop
        self._integrity = integrity
        self._stopping = False
        self._failures = 0  # of the loop since its last turn

    def run(self) -> None:
        """Until stop(). Raises what the loop keeps failing with."""
        failure = None
        while not self._stopping:
            try:
                if failure is not None:
                    cause, failure = failure, None
                    self._mend(cause, again=self._failures > 1)
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
        self._stopping = False  # a rehearsal runs it many times

    def stop(self) -> None:
        self._stopping = True
        self._loop.stop()

    def _mend(self, cause, again):
        self._integrity.restore_for_loop(cause, again)
        if again and mend_failed(self._loop):
            self._integrity.wakeup_fd = self._loop.wakeup_fd()
            self._integrity.note_repair("the event loop")

    def _on_turn(self):
        self._failures = 0
