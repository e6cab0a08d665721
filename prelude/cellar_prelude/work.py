"""Several things at once: `parallel`, `pipeline`."""
__builtins__ = __import__("builtins").__dict__.copy()

import contextvars
import threading
from functools import partial
from inspect import iscoroutine

from cellar_prelude import arguments
from cellar_prelude.status import note

MAX_CONCURRENCY = 16
# A thread that is not the main one learns of an interrupt between two waits of this length.
_LOOK_S = 0.1
# What is under way when the cell is interrupted may take this long to end. What is blocked in a call of the system then
# ends with that call: nothing can end it earlier, and the interrupt must not wait for it.
_INTERRUPT_WAIT_S = 0.5


def parallel(thunks, concurrency=4) -> list:
    """Call each of `thunks` (functions without arguments) and return their results, in the same order.

    At most `concurrency` run at a time, each in a thread (default 4, at most 16). Context variables are carried over.
    Returns when all have ended. When one raises, no more are started, and the error of the first in order is raised.

        pages = parallel([lambda url=url: fetch(url) for url in urls], concurrency=8)
    """
    thunks = _listed("parallel", "functions", thunks)
    for index, thunk in enumerate(thunks):
        if not callable(thunk):
            raise TypeError(f"parallel(): item {index} is of type {type(thunk).__name__}, not a function to call")
    width = _width("parallel", concurrency)
    note("parallel", count=len(thunks), concurrency=width)
    return _run_all(thunks, width)


def pipeline(items, *stages, concurrency=4) -> list:
    """Map each item through `stages`, functions of one argument: the first gets the item, the next its result.

    All items have passed a stage before the next stage begins. Within a stage up to `concurrency` items are worked on
    at a time, as by parallel().

        summaries = pipeline(paths, read, summarise, concurrency=8)
    """
    for index, stage in enumerate(stages, 1):
        if not callable(stage):
            raise TypeError(f"pipeline(): stage {index} is of type {type(stage).__name__}, not a function to call")
    width = _width("pipeline", concurrency)
    results = _listed("pipeline", "items", items)
    note("pipeline", count=len(results), stages=len(stages), concurrency=width)
    for stage in stages:
        results = _run_all([partial(stage, item) for item in results], width)
    return results


def _listed(helper, what, values):
    try:
        return [value for value in values]  # list() of an iterator without end heeds no interrupt
    except TypeError:
        if hasattr(values, "__iter__"):
            raise  # of the user's own iterator
        raise TypeError(f"{helper}() needs a list of {what}, not {type(values).__name__}") from None


def _width(helper, concurrency):
    return min(arguments.number(helper, "concurrency", concurrency, 1), MAX_CONCURRENCY)


def _run_all(thunks, width):
    if not thunks:
        return []
    width = min(width, len(thunks))
    batch = _Batch(thunks, width)
    threads = [threading.Thread(target=batch.work, name=f"parallel-{n}", daemon=True) for n in range(width)]
    try:
        for thread in threads:
            thread.start()
        # Not join(): Python 3.11 takes a thread for ended when an exception ends the wait for it.
        while not batch.has_ended.wait(_LOOK_S):
            pass
        for thread in threads:
            thread.join()
    except BaseException as error:
        batch.stop()
        _interrupt(threads)
        batch.has_ended.wait(_INTERRUPT_WAIT_S)
        raise error.with_traceback(None)  # where it was raised is nothing of the cell's
    if batch.errors:
        raise batch.errors[min(batch.errors)]
    return batch.results


class _Batch:
    """Thunks that several threads take from, in order, until they are used up or one has failed."""

    def __init__(self, thunks, width):
        self.has_ended = threading.Event()
        self.results = [None] * len(thunks)
        self.errors = {}
        self._thunks = thunks
        # Made here, on the caller's thread: they carry what is set where parallel() was called.
        self._contexts = [contextvars.copy_context() for _ in thunks]
        self._next = 0
        self._threads = width
        self._lock = threading.Lock()

    def stop(self):
        with self._lock:
            self._next = len(self._thunks)

    def work(self):
        try:
            while (index := self._take()) is not None:
                self._run(index)
        except KeyboardInterrupt:
            pass  # of _interrupt(), between two thunks
        finally:
            with self._lock:
                self._threads -= 1
                if self._threads == 0:
                    self.has_ended.set()

    def _run(self, index):
        try:
            self.results[index] = self._contexts[index].run(_call, index, self._thunks[index])
        except BaseException as error:
            self.errors[index] = error
            self.stop()

    def _take(self):
        with self._lock:
            if self._next == len(self._thunks):
                return None
            self._next += 1
            return self._next - 1


def _call(index, thunk):
    result = thunk()
    if iscoroutine(result):
        result.close()
        raise TypeError(f"item {index} is an async function, which a thread cannot await; use asyncio.gather()")
    return result


def _interrupt(threads):
    import _cellar
    for thread in threads:
        if thread.is_alive():
            _cellar.interrupt_thread(thread.ident)
