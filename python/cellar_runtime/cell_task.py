"""The task in which a cell runs that awaits, and what an interrupt does to it while it is parked."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import sys

import _cellar
from cellar_runtime import stack

_current_task, _leave_task = asyncio.current_task, asyncio.tasks._leave_task
_getframe = sys._getframe
_Task = asyncio.Task  # made without the loop's factory, which cells may set
_take_pending_interrupt = _cellar.take_pending_interrupt


class CellTask:
    """`current` is the task of the running cell; None when no cell runs, or a plain one."""

    def __init__(self, loop):
        self._loop = loop
        self.current = None

    def begin(self, coroutine, context) -> None:
        """Has the loop run the rest of a cell. The coroutine sets `current` to None when it is through."""
        try:
            stranger = _current_task(self._loop)
            if stranger is not None:
                _leave_task(self._loop, stranger)  # a cell has entered it, and no other task could begin
            self.current = _Task(coroutine, loop=self._loop, context=context)
        except BaseException:
            coroutine.close()
            raise

    def is_running(self) -> bool:
        """Whether it is the cell's own task, and not another one of the loop, that runs now."""
        return self.current is not None and _current_task(self._loop) is self.current

    def check(self) -> None:
        """Raises where no task can be made."""
        _Task(_nothing(), loop=self._loop)

    def cancel(self, insist: bool) -> bool:
        """Called on the main thread when the running cell is interrupted while other code runs. See interrupts.h."""
        task = self.current
        if task is None:
            # On the way to a plain cell's code, or from it. What a cell has left there ends, like a __del__ that blocks;
            # the runner itself does not.
            return insist and not stack.is_own(_getframe(1))
        self._loop.call_soon_threadsafe(self._cancel_parked, task)
        # Insisting: whatever keeps the loop busy is in the way, unless it is the runner finishing the cell.
        return insist and _current_task(self._loop) is not task

    def _cancel_parked(self, task):
        # Unless the cell's own code ran on meanwhile and has had its KeyboardInterrupt.
        if task is self.current and _take_pending_interrupt():
            task.cancel()


async def _nothing():
    """For a task that is made only to see whether one can be made."""
