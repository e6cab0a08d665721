"""The event loop of a session, made so that it survives what cells do to it and can be copied with the process."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import selectors
import socket

import _cellar
from cellar_runtime.loop_parts import LoopParts

_PollSelector = selectors.PollSelector


class SessionLoop(asyncio.SelectorEventLoop):
    """Its own sockets have high numbers: a cell that closes descriptors at random would make it fail at every turn."""

    def _make_self_pipe(self):
        super()._make_self_pipe()
        self._remove_reader(self._ssock.fileno())
        self._ssock, self._csock = _moved_high(self._ssock), _moved_high(self._csock)
        self._add_reader(self._ssock.fileno(), self._read_from_self)

    def parts(self):
        return LoopParts(self, self._selector)

    def listen(self, fd, callback):
        """Calls back when there is something to read, whatever cells do to the loop."""
        self._add_reader(fd, callback)
        self._listens_to = fd, callback, self._selector.get_key(fd)

    def listen_again(self):
        """Puts back what wakes the loop, if a cell has taken it away. True when it had."""
        fd, callback, key = self._listens_to
        keys = self._selector._fd_to_key
        if keys.get(fd) is key and self._ssock.fileno() in keys:
            return False
        if self._selector.get_map() is None:
            self._selector = _PollSelector()
        self._add_reader(self._ssock.fileno(), self._read_from_self)
        self.listen(fd, callback)
        return True

    def renew_self_pipe(self):
        """In a copy of the process: what it has is the original's too."""
        self._close_self_pipe()
        self._make_self_pipe()

    def wakeup_fd(self):
        """A byte that a signal writes here wakes the loop."""
        return self._csock.fileno()

    def own_fds(self):
        """The descriptors that a copy makes anew by itself."""
        return {self._ssock.fileno(), self._csock.fileno()}


def make_loop() -> SessionLoop:
    """Asyncio's own from now on: what cells start runs in it."""
    # Poll, not epoll: an epoll object would be shared with a forked copy of this process.
    loop = SessionLoop(_PollSelector())
    asyncio.set_event_loop(loop)
    watcher = asyncio.PidfdChildWatcher()
    watcher.attach_loop(loop)
    asyncio.set_child_watcher(watcher)
    return loop


def _moved_high(sock):
    return socket.socket(sock.family, sock.type, fileno=_cellar.move_high(sock.detach()))
