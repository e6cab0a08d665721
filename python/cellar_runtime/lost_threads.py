"""Threads stay behind when a worker is copied. Whatever waits for one in the copy must not wait for ever."""
__builtins__ = __import__("builtins").__dict__.copy()

import importlib._bootstrap as _bootstrap
import sys
import threading
from _thread import LockType as _LockType, RLock as _RLock

import _cellar
from cellar_runtime import untrusted

_current_frames, _get_ident = sys._current_frames, threading.get_ident
# Not threading.enumerate(), which takes a lock, nor what a class of a cell says of its threads.
_threads, _attributes_of = threading._active, threading.Thread.__dict__["__dict__"].__get__
_Condition, _Event, _Lock, _Semaphore = threading.Condition, threading.Event, threading.Lock, threading.Semaphore


class ThreadLost(RuntimeError):
    """Raised where the result of a thread is waited for that did not come along into a restored session."""

    def __init__(self):
        super().__init__("the thread that worked on this was lost: the session was restored from a snapshot, or is a "
                         "branch, and threads stay behind")


class LostThreads:
    """The threads that are there now, and what they work on: to be looked at before the fork, settled in the copy."""

    def __init__(self):
        frames = _current_frames()
        self.count = len(frames) - 1
        self.names = []
        self._running = []
        self._pools = []
        self._managers = []
        if self.count == 0:
            return
        main = _get_ident()
        pool_module = sys.modules.get("concurrent.futures.thread")
        process_module = sys.modules.get("concurrent.futures.process")
        for ident, thread in list(_threads.items()):
            if ident == main:
                continue
            attributes = _attributes_of(thread)
            self.names.append(untrusted.valid_text(untrusted.safe_str(attributes.get("_name"))))
            if pool_module is not None and attributes.get("_target") is pool_module._worker:
                self._pools.append(attributes["_args"][0])
                self._running.append(_work_of(frames.get(ident), pool_module))
            elif process_module is not None and isinstance(thread, process_module._ExecutorManagerThread):
                self._managers.append(thread)
        self.names.sort()

    def settle(self) -> None:
        """In the copy: what a lost thread would have answered fails now, pools start anew, locks are free."""
        if self.count == 0:
            return
        for lock in _cellar.live_objects((_LockType, _RLock), True):
            _free(lock)
        _bootstrap._module_locks.clear()
        for executor in {id(pool): pool for pool in (reference() for reference in self._pools)}.values():
            if executor is not None:
                _restart(executor)
        for future in self._running:
            _fail(future)
        for manager in self._managers:
            _break_process_pool(manager)
        _break_multiprocessing_pools()


def _work_of(frame, pool_module):
    """The future that a pool's thread works for, or None."""
    while frame is not None:
        if frame.f_code is pool_module._WorkItem.run.__code__:
            item = frame.f_locals.get("self")
            return item.future if item is not None else None
        frame = frame.f_back
    return None


def _free(lock):
    if issubclass(type(lock), _RLock):
        if not _RLock._is_owned(lock):
            _RLock._at_fork_reinit(lock)
    elif lock.locked() and lock is not threading.main_thread()._tstate_lock:
        lock._at_fork_reinit()


def _restart(executor):
    executor._threads.clear()
    executor._idle_semaphore = _Semaphore(0)
    executor._shutdown_lock = _Lock()
    for _ in range(min(executor._work_queue.qsize(), executor._max_workers)):
        executor._adjust_thread_count()


def _fail(future):
    if future is None or future.done():
        return
    future._condition = _Condition()
    future.set_exception(ThreadLost())


def _break_process_pool(manager):
    from concurrent.futures.process import BrokenProcessPool

    reason = "the processes of this pool stayed behind: the session was restored from a snapshot, or is a branch"
    executor = manager.executor_reference()
    if executor is not None:
        executor._broken = reason
        executor._shutdown_lock = _Lock()
    manager.thread_wakeup._closed = True
    for item in list(manager.pending_work_items.values()):
        if not item.future.done():
            item.future._condition = _Condition()
            item.future.set_exception(BrokenProcessPool(reason))
    manager.pending_work_items.clear()


def _break_multiprocessing_pools():
    module = sys.modules.get("multiprocessing.pool")
    if module is None:
        return
    for finalizer in list(module.util._finalizer_registry.values()):
        pool = finalizer._weakref() if finalizer._weakref is not None else None
        if isinstance(pool, module.Pool):
            pool._state = module.TERMINATE  # "Pool not running" for whoever asks
            for result in list(dict.values(pool._cache)):
                _fail_pool_result(result, module)


def _fail_pool_result(result, module):
    if isinstance(result, module.IMapIterator):
        result._cond = _Condition()
        result._items.append((False, ThreadLost()))
        return
    result._success, result._value = False, ThreadLost()
    result._event = _Event()
    result._event.set()
