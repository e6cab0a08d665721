"""Calls to whoever runs cellar: the Python end of the bridge, from any thread and from async code.

A call waits on a line (see embed/line.h): each thread has one, made on its first call, and so has each event loop.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import itertools
import weakref
from _thread import _local, get_ident

import _cellar
from cellar_prelude.bridge import BridgeError
from cellar_runtime import safe_json, values
from cellar_runtime.image import Image, place_images

_ERROR, _CANCELLED = _cellar.AnswerKind.ERROR, _cellar.AnswerKind.CANCELLED
_TOOLS, _BUDGET, _INPUT = _cellar.OfferKind.TOOLS, _cellar.OfferKind.BUDGET, _cellar.OfferKind.INPUT
_Line, _nested, _offer, _hear_interrupt = (
    _cellar.BridgeLine, _cellar.nested, _cellar.bridge_offer, _cellar.hear_interrupt)
_get_running_loop = asyncio.get_running_loop


class HostBridge:
    """The host as a provider of tools: `call` blocks the thread, `acall` is awaited, others run meanwhile."""

    def __init__(self):
        self._numbers = itertools.count(1)
        self._of_thread = _local()
        self._of_loop = weakref.WeakKeyDictionary()
        self._run_nested = None
        self._main_thread = 0
        self._offers = {}  # by kind: (sequence, value)

    def install(self, run_nested) -> None:
        """Once, on the worker's main thread. `run_nested(cell, code)` runs a cell inside a wait of that thread."""
        self._run_nested = run_nested
        self._main_thread = get_ident()

    def call(self, name: str, args: object) -> object:
        """The answer to a call, which other threads do not wait for. Raises BridgeError when the host says no."""
        data = safe_json.dumps(args)
        line, number = self._line_of_thread(), next(self._numbers)
        try:
            line.start(number, name, data)
            while True:
                event = line.wait(number)
                if len(event) == 4:
                    return _value_of(name, *event[1:])
                cell, code = event
                _nested(cell, self._run_nested, cell, code)
        finally:
            line.withdraw(number)  # nothing, when it was answered

    async def acall(self, name: str, args: object) -> object:
        """As `call`, for async code: other tasks of the loop run while this one waits."""
        data = safe_json.dumps(args)
        line, number = self._line_of_loop(_get_running_loop()), next(self._numbers)
        future = line.expect(number)
        try:
            line.start(number, name, data)
            kind, data, images = await future
        finally:
            line.forget(number)
        return _value_of(name, kind, data, images)

    def elsewhere(self) -> "_Elsewhere":
        """While it is open, this thread waits for somebody other than the host, which knows: the cell's time-out stands
        still, and an interrupt is heard."""
        return _Elsewhere(self._line_of_thread, next(self._numbers))

    def is_connected(self) -> bool:
        """Whether somebody answers calls."""
        return self.tools() is not None

    def tools(self) -> list[dict] | None:
        """What can be called: dicts with `name`, `description` and `schema`, the JSON Schema of the arguments. None where
        nobody answers."""
        return self._offered(_TOOLS, None)

    def budget(self) -> dict:
        """`total` (None: no ceiling), `hard` and `spent`."""
        return self._offered(_BUDGET, {"total": None, "hard": False, "spent": 0})

    def ask_line(self, hidden: bool) -> str | None:
        """A line that a person types, "" at the end of the input; None when there is nobody to ask."""
        if not self._offered(_INPUT, False):
            return None
        line = self.call("$input", {"hidden": hidden})  # BridgeProvider::kInput
        return None if line is False else line or ""

    def fail_awaited(self) -> None:
        """In a copy of the worker, which has no lines yet: what was awaited on the original's is not answered here."""
        for line in list(self._of_loop.values()):
            line.fail(BridgeError("the session was copied while this call was under way; the copy gets no answer"))
        self._of_loop.clear()

    def _line_of_thread(self):
        line = getattr(self._of_thread, "line", None)
        if line is None or not line.is_open():
            line = self._of_thread.line = _Line(get_ident() == self._main_thread)
        return line

    def _line_of_loop(self, loop):
        line = self._of_loop.get(loop)
        if line is None or not line.is_open():
            if line is not None:
                line.fail(BridgeError("the connection to the host was closed"))
            line = self._of_loop[loop] = _LoopLine(loop)
        return line

    def _offered(self, kind, default):
        sequence, data = _offer(kind)
        if sequence == 0:
            return default
        known = self._offers.get(kind)
        if known is None or known[0] != sequence:
            known = self._offers[kind] = (sequence, values.decode(True, data))
        return known[1]


class _Elsewhere:
    """A wait for somebody other than the host. Its descriptor can be read when hear() has something to do."""

    def __init__(self, open_line, number):
        self._open_line = open_line
        self._number = number
        self._line = None

    def __enter__(self):
        """None where the host cannot be told: in a process that a cell forked, or in too many threads at once."""
        try:
            line = self._open_line()
            line.start(self._number, "$elsewhere", b"null")  # Bridge::kElsewhere
        except (RuntimeError, ConnectionError):
            return None
        self._line = line
        return self

    def __exit__(self, *_):
        if self._line is not None:
            self._line.withdraw(self._number)

    def fileno(self) -> int:
        return self._line.fileno()

    def hear(self) -> bool:
        """Raises KeyboardInterrupt when the cell was interrupted, BridgeError when the wait takes longer than it may.
        False when the host will say no more."""
        try:
            answer = self._line.answer(self._number)
        except ConnectionError:
            return False
        if answer is None:
            return True
        _, kind, data, _ = answer
        if kind == _CANCELLED:
            _hear_interrupt()
            raise KeyboardInterrupt
        raise BridgeError(data.decode("utf-8", "replace"))


class _LoopLine:
    """A line whose answers wake the loop that it belongs to."""

    def __init__(self, loop):
        self._loop = weakref.ref(loop)
        self._line = _Line(False)
        self._futures = {}
        self.start, self.is_open = self._line.start, self._line.is_open
        self._fd = self._line.fileno()
        loop.add_reader(self._fd, self._on_readable)

    def expect(self, number):
        future = self._futures[number] = self._loop().create_future()
        return future

    def forget(self, number):
        if self._futures.pop(number, None) is not None:
            self._line.withdraw(number)

    def fail(self, error):
        """Ends every call with the error."""
        self._loop().remove_reader(self._fd)
        for future in self._futures.values():
            if not future.done():
                future.set_exception(error)
        self._futures.clear()

    def _on_readable(self):
        try:
            answers = self._line.answers()
        except ConnectionError as error:
            self.fail(BridgeError(str(error)))
            return
        for number, kind, data, images in answers:
            future = self._futures.get(number)
            if future is None or future.done():
                continue
            if kind == _CANCELLED:
                # The interrupt goes to the cell first, as its signal would; what it awaits ends with it.
                _hear_interrupt()
                self._loop().call_soon(future.cancel)
            else:
                future.set_result((kind, data, images))


def _value_of(name, kind, data, images):
    if kind == _ERROR:
        raise BridgeError(data.decode("utf-8", "replace"))
    try:
        value = values.decode(True, data)
        return place_images(value, [Image(content, mime) for mime, content in images]) if images else value
    except Exception as error:  # not JSON, not UTF-8, nested too deep
        raise BridgeError(f"the answer of {name} is damaged: {error}") from None


host = HostBridge()
