"""The event loop of a session, made so that it survives what cells do to it and can be copied with the process."""
__builtins__ = __import__("builtins").__dict__.copy()

import _thread
import asyncio
import heapq
import os
import select
import selectors
import socket

import _cellar
from cellar_runtime.loop_parts import KeptObject, LoopParts

_PollSelector = selectors.PollSelector
_read_from_self = asyncio.SelectorEventLoop._read_from_self
_POLLIN, _POLLOUT, _POLLNVAL = select.POLLIN, select.POLLOUT, select.POLLNVAL
_fstat, _get_ident = os.fstat, _thread.get_ident
_running_loop, _set_running_loop = asyncio._get_running_loop, asyncio._set_running_loop
_Handle, _TimerHandle, _heapify = asyncio.Handle, asyncio.TimerHandle, heapq.heapify
_HOME = _get_ident()  # the thread of every loop; in a copy of the process it has the same number
_kept = {}  # by the id of a loop: what it and its selector were. Not in the loop, since cells empty it


class SessionLoop(asyncio.SelectorEventLoop):
    """Its own sockets have high numbers: a cell that closes descriptors at random would make it fail at every turn."""

    def _make_self_pipe(self):
        super()._make_self_pipe()
        self._remove_reader(self._ssock.fileno())
        self._ssock, self._csock = _moved_high(self._ssock), _moved_high(self._csock)
        self._add_reader(self._ssock.fileno(), self._read_from_self)

    def _run_once(self):
        """A turn. Where no timers wait, as mostly, there is nothing in it that cells can replace with what hangs or raises."""
        if self._scheduled or self._debug:
            return super()._run_once()
        ready = self._ready
        keys = self._selector._fd_to_key
        for fd, event in self._selector._selector.poll(0 if ready or self._stopping else None):
            key = keys.get(fd)
            if key is None or event & _POLLNVAL and self._forget_closed(fd):
                continue
            reader, writer = key.data
            # As in asyncio, trouble with a descriptor is for its reader and its writer.
            if event & ~_POLLOUT and reader is not None:
                if reader._cancelled:
                    self._remove_reader(key.fileobj)
                else:
                    ready.append(reader)
            if event & ~_POLLIN and writer is not None:
                if writer._cancelled:
                    self._remove_writer(key.fileobj)
                else:
                    ready.append(writer)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()
        handle = None  # what it holds must not live until the next turn

    def _process_events(self, event_list):
        """Of a turn with timers."""
        super()._process_events([(key, mask) for key, mask in event_list if not self._forget_closed(key.fd)])

    def _forget_closed(self, fd):
        """Takes away the reader and the writer of a descriptor that a cell has closed: it would be ready for ever. Whether
        it is one."""
        try:
            _fstat(fd)
            return False
        except OSError:
            if fd == self._listens_to[0] or fd in self.own_fds():
                return False
        self._remove_reader(fd)
        self._remove_writer(fd)
        return True

    def parts(self):
        return LoopParts(self, self._selector)

    def listen(self, fd, callback):
        """Calls back when there is something to read, whatever cells do to the loop."""
        self._add_reader(fd, callback)
        self._listens_to = fd, callback, self._selector.get_key(fd)
        self._own = self._selector, self._ready
        self._count_attributes()
        _keep(self)

    def run_forever(self):
        if _get_ident() != _HOME:  # whatever a cell has told the loop of its thread
            raise RuntimeError("This event loop is already running")
        super().run_forever()

    def _mend(self):
        fd, callback, _ = self._listens_to
        self._selector, self._ready = self._own
        if type(self._scheduled) is not list:
            self._scheduled = []
        self._closed = False
        if self._selector.get_map() is None:
            self._selector = _PollSelector()
        if self._ssock.fileno() < 0 or self._csock.fileno() < 0:
            self._forget_self_pipe()
            self._make_self_pipe()
        self._add_reader(self._ssock.fileno(), self._read_from_self)
        self.listen(fd, callback)

    def _forget_self_pipe(self):
        """Its sockets are closed: under their numbers there may be others by now."""
        for key in list(self._selector.get_map().values()):
            reader = key.data[0] if type(key.data) is tuple else None
            if reader is not None and getattr(reader._callback, "__func__", None) is _read_from_self:
                self._selector.unregister(key.fd)

    def _count_attributes(self):
        self._attributes = 0
        self._attributes = len(self.__dict__) + len(self._own[0].__dict__)

    def _drop_overrides(self):
        dropped = False
        for part in (self, self._own[0]):
            for name in [name for name in part.__dict__ if callable(getattr(type(part), name, None))]:
                del part.__dict__[name]
                dropped = True
        self._count_attributes()
        return dropped

    def renew_self_pipe(self):
        """In a copy of the process: what it has is the original's too. New sockets take the numbers of the old ones: to make
        objects for them would touch half a megabyte of memory that is shared until then."""
        own, other = self._ssock.fileno(), self._csock.fileno()
        if own >= 0 and other >= 0:
            _cellar.renew_socket_pair(own, other)
        else:
            self._forget_self_pipe()
            self._make_self_pipe()
            _keep(self)

    def wakeup_fd(self):
        """A byte that a signal writes here wakes the loop."""
        return self._csock.fileno()

    def count_fds(self):
        """How many descriptors it looks at."""
        return len(self._selector._fd_to_key)

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


def listen_again(loop) -> bool:
    """While it runs: puts back what wakes the loop, if a cell has taken it away. True when it had. No method: the class of
    the loop may be another by now."""
    try:
        selector, ready = loop._own
        fd, _, key = loop._listens_to
        keys = selector._fd_to_key
        if (type(loop) is SessionLoop and type(selector) is _PollSelector
                and keys.get(fd) is key and loop._ssock.fileno() in keys and loop._csock.fileno() >= 0
                and loop._selector is selector and loop._ready is ready and type(loop._scheduled) is list
                and not loop._closed and loop._thread_id == _HOME and _running_loop() is loop):
            # Attributes that were not there are a cell's, and may hide methods.
            return len(loop.__dict__) + len(selector.__dict__) != loop._attributes and loop._drop_overrides()
    except BaseException:  # of what stands in the place of a part
        pass
    _mend(loop)
    loop._thread_id = _HOME
    _set_running_loop(loop)
    return True


def mend_failed(loop) -> bool:
    """When it has failed, and does not run: puts back what it is made of, and drops what no turn of it can deal with. True
    when there was any."""
    mended = _mend(loop)
    loop._thread_id = None
    scheduled = [handle for handle in loop._scheduled if _is_timer(handle)]
    ready = [handle for handle in loop._ready if isinstance(handle, _Handle)]
    for waiting, sound in ((loop._scheduled, scheduled), (loop._ready, ready)):
        if len(sound) < len(waiting):
            waiting.clear()
            waiting.extend(sound)
            mended = True
    _heapify(loop._scheduled)
    return mended


def _is_timer(handle):
    try:
        return isinstance(handle, _TimerHandle) and isinstance(handle._when - 0.0, float)
    except Exception:
        return False


def _keep(loop):
    _kept[id(loop)] = KeptObject(loop), KeptObject(loop._own[0])


def _mend(loop):
    mended = False
    for part in _kept[id(loop)]:
        mended |= part.put_back()
    mended |= loop._drop_overrides()
    loop._mend()
    return mended


def _moved_high(sock):
    return socket.socket(sock.family, sock.type, fileno=_cellar.move_high(sock.detach()))
