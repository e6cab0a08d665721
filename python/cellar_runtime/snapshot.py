"""Copies of this worker, made by fork: what Python must do before one, and in a copy when it begins to run."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import os
import sys
import time
from _random import Random as _Random
from signal import SIGKILL
from subprocess import Popen as _Popen

import _cellar
import _imp
from cellar_runtime import untrusted
from cellar_runtime.lost_threads import LostThreads

_sleep, _import_lock_is_held, _release_import_lock = time.sleep, _imp.lock_held, _imp.release_lock
_attribute_of_object = object.__getattribute__
_ATTEMPTS, _BETWEEN_ATTEMPTS = 20, 0.001  # a thread that imports has the lock for microseconds

_copying = False


def is_copying() -> bool:
    """Whether a fork that is under way makes a copy of the worker, and not a child of a cell."""
    return _copying


def make_copy(loop, integrity) -> bool:
    """Answers the host's request. Whether this process is the copy."""
    global _copying
    if not _free_import_lock():
        _cellar.refuse_copy("a thread holds the import lock")
        return False
    try:
        prepared = _cellar.prepare_copy(lambda: (LostThreads(), _RandomState(), loop.own_fds() | _tracker_fds()))
        if prepared is None:
            return False
        lost, random_state, fds = prepared
        _copying = True
        awake = _cellar.copy(lost.names, lost.count + 1, fds)
    except BaseException as error:  # a cell broke one of the modules
        _cellar.refuse_copy(untrusted.describe(error))
        return False
    finally:
        _copying = False
    if awake is None:
        return False
    reseed, had_children = awake
    try:
        if reseed:
            reseed_numpy()
        else:
            random_state.put_back()
        _renew_loop(loop)
        integrity.wakeup_fd = loop.wakeup_fd()
        integrity.restore()
        _disown_children(had_children)
        lost.settle()
    except BaseException as error:
        _cellar.send_hello(f"the copy could not be woken: {untrusted.describe(error)}")
        os._exit(1)
    return True


class _RandomState:
    """That of the module `random`, which seeds itself anew in every child."""

    def __init__(self):
        self._generator = _attribute(sys.modules.get("random"), "_inst")
        if isinstance(self._generator, _Random):
            self._state = _Random.getstate(self._generator), self._attributes().get("gauss_next")

    def put_back(self) -> None:
        if isinstance(self._generator, _Random):
            state, self._attributes()["gauss_next"] = self._state
            _Random.setstate(self._generator, state)

    def _attributes(self):
        return _attribute_of_object(self._generator, "__dict__")  # whatever its class is by now


def _tracker_fds():
    """The way to multiprocessing's resource tracker. It removes shared memory when the last process has closed it that may
    use it, and a copy is one of them."""
    tracker = _attribute(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker")
    fd = _attribute(tracker, "_fd")
    return {fd} if type(fd) is int and fd >= 0 else set()


def _attribute(thing, name):
    return thing.__dict__.get(name) if thing is not None else None


def _free_import_lock():
    """A fork takes the lock, and waits for it with no way to be interrupted. False when a thread does not let go of it."""
    for _ in range(_ATTEMPTS):
        if not _import_lock_is_held():
            return True
        try:
            _release_import_lock()  # left by a cell, if it is this thread's
        except RuntimeError:
            _sleep(_BETWEEN_ATTEMPTS)
    return not _import_lock_is_held()


def reseed_numpy() -> None:
    """Its global generator is the original's: every copy would draw the same numbers."""
    numpy = sys.modules.get("numpy")
    try:
        if numpy is not None:
            numpy.random.seed()
    except Exception:
        pass  # something else of that name


def _renew_loop(loop):
    asyncio._set_running_loop(loop)  # it remembers the process that it ran in
    loop.renew_self_pipe()
    for key in list(loop._selector.get_map().values()):
        reader = key.data[0]
        callback = reader._callback if reader is not None else None
        if getattr(callback, "__func__", None) is type(loop)._accept_connection:
            # Its socket is not what it was: every look at it would fail, for ever.
            loop._remove_reader(key.fd)
        elif isinstance(getattr(callback, "__self__", None), asyncio.DatagramTransport):
            callback.__self__._fatal_error(ConnectionAbortedError("this session is a copy: the socket is the original's"))


def _disown_children(had_any):
    """Child processes are the original's: no object must signal them, or say that they ended well."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        for child in list(process._dangling):  # those that are not started, or have ended, are in it too
            child._parent_pid = os.getpid()
            if child._popen is not None and child._popen.returncode is None:
                child._popen.returncode = -SIGKILL
        process._children.clear()
    for child in _cellar.live_objects((_Popen,), False) if had_any else ():
        if child.__dict__.get("returncode", 0) is None:
            child.returncode = -SIGKILL
