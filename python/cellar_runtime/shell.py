"""Commands of a shell, run for a cell: their output is shown while they run, and kept. What they leave in the background
writes on, and is shown as it comes."""
__builtins__ = __import__("builtins").__dict__.copy()

import codecs
import os
import selectors
import signal
import subprocess
import sys
import threading
from time import monotonic

MAX_KEPT_CHARS = 64 << 20
_READ_BYTES = 65536  # what a pipe holds
_LOOK_S = 0.05
_END_WAIT_S = 0.5


class ShellResult(list):
    """The lines that a command printed. `text`: all of them; `returncode`; `is_cut` when there was more than is kept."""

    def __init__(self, text: str, returncode: int, is_cut: bool):
        super().__init__(text.splitlines())
        self.text = text
        self.returncode = returncode
        self.is_cut = is_cut

    @property
    def lines(self) -> list[str]:
        return list(self)

    l = lines  # the names that IPython gives them

    @property
    def n(self) -> str:
        return "\n".join(self)

    @property
    def s(self) -> str:
        return " ".join(self)


def run(command, *, show: bool, own_stderr: bool = False, **options) -> ShellResult:
    """Runs a command to its end. `own_stderr`: what it writes there is shown on sys.stderr, and not kept.

    What the command leaves in the background is not waited for: its output comes too late to be kept, and is shown. An
    interrupt ends the command.
    """
    stderr = subprocess.PIPE if own_stderr else subprocess.STDOUT
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, bufsize=0,
                               **options)
    kept = _Kept()
    outputs = [_Output(process.stdout, _to_stdout, [kept.add, *([_to_stdout] if show else [])])]
    if own_stderr:
        outputs.append(_Output(process.stderr, _to_stderr, [_to_stderr]))
    try:
        _pump(process, outputs)
        process.wait()
    except BaseException:
        try:
            _end(process)
        finally:  # also when that is interrupted
            for output in outputs:
                output.pipe.close()
        raise
    for output in outputs:
        if not output.pipe.closed:
            threading.Thread(target=output.show_rest, name=f"output of process {process.pid}", daemon=True).start()
    return ShellResult("".join(kept.parts), process.returncode, kept.is_cut)


class _Kept:
    def __init__(self):
        self.parts = []
        self.is_cut = False
        self._room = MAX_KEPT_CHARS

    def add(self, text):
        if self._room < len(text):
            self.is_cut = True
        if self._room:
            self.parts.append(text[:self._room])
            self._room -= len(self.parts[-1])


class _Output:
    """A pipe that a command writes to. `receivers` get its text while the command runs."""

    def __init__(self, pipe, show, receivers):
        self.pipe = pipe
        self._show = show
        self._receivers = receivers
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self):
        """Hands on what is there. False at the pipe's end."""
        data = os.read(self.pipe.fileno(), _READ_BYTES)
        text = self._decoder.decode(data, not data)
        if text:
            for receive in self._receivers:
                receive(text)
        return bool(data)

    def show_rest(self):
        """Until whoever has been left in the background closes the pipe; it would die if that were done here."""
        self._receivers = [self._show]
        with self.pipe:
            while self.read():
                pass


def _pump(process, outputs):
    """Reads until the pipes are closed, or the command has ended and all that it wrote is read: a child may hold them
    open."""
    looks_after_end = 0
    with selectors.PollSelector() as selector:
        for output in outputs:
            selector.register(output.pipe, selectors.EVENT_READ, output)
        # One look reads all that a pipe can hold, a second one finds its end.
        while selector.get_map() and looks_after_end < 2:
            has_ended = process.poll() is not None
            looks_after_end += has_ended
            for key, _ in selector.select(0 if has_ended else _LOOK_S):
                if not key.data.read():
                    selector.unregister(key.fileobj)
                    key.fileobj.close()


def _to_stdout(text):
    sys.stdout.write(text)


def _to_stderr(text):
    sys.stderr.write(text)


def _end(process):
    """Ends a command that still runs, because the cell was interrupted."""
    try:
        for how in (signal.SIGINT, signal.SIGKILL):
            if process.poll() is not None:
                return
            process.send_signal(how)
            _wait(process, _END_WAIT_S)
    except BaseException:  # another interrupt: it has had its time
        process.kill()
        _wait(process, _END_WAIT_S)
        raise


def _wait(process, seconds):
    deadline = monotonic() + seconds
    while process.poll() is None and monotonic() < deadline:
        try:
            process.wait(max(0, deadline - monotonic()))
        except subprocess.TimeoutExpired:
            pass
