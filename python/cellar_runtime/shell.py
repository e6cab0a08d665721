"""Commands of a shell, run for a cell: their output is shown while they run, and kept."""
__builtins__ = __import__("builtins").__dict__.copy()

import codecs
import os
import selectors
import signal
import subprocess
import sys
from time import monotonic

MAX_KEPT_CHARS = 64 << 20
_READ_BYTES = 65536
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

    What the command leaves in the background is not waited for. An interrupt ends the command.
    """
    stderr = subprocess.PIPE if own_stderr else subprocess.STDOUT
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr, bufsize=0,
                               **options)
    kept = _Kept()
    pipes = {process.stdout: [kept.add, *([_to_stdout] if show else [])]}
    if own_stderr:
        pipes[process.stderr] = [_to_stderr]
    try:
        _pump(process, pipes)
        process.wait()
    finally:
        _end(process)
        for pipe in pipes:
            pipe.close()
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


def _pump(process, pipes):
    """Reads until the pipes are closed, or the command has ended and they are empty: a child may hold them open."""
    decoders = {pipe: codecs.getincrementaldecoder("utf-8")("replace") for pipe in pipes}
    with selectors.PollSelector() as selector:
        for pipe in pipes:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            has_ended = process.poll() is not None
            ready = selector.select(0 if has_ended else _LOOK_S)
            if has_ended and not ready:
                break
            for key, _ in ready:
                pipe = key.fileobj
                data = os.read(pipe.fileno(), _READ_BYTES)
                _give(pipes[pipe], decoders[pipe].decode(data, not data))
                if not data:
                    selector.unregister(pipe)
    for pipe, decoder in decoders.items():
        _give(pipes[pipe], decoder.decode(b"", True))


def _give(receivers, text):
    if text:
        for receive in receivers:
            receive(text)


def _to_stdout(text):
    sys.stdout.write(text)


def _to_stderr(text):
    sys.stderr.write(text)


def _end(process):
    """Ends a command that still runs, because the cell was interrupted."""
    for how in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is not None:
            return
        process.send_signal(how)
        deadline = monotonic() + _END_WAIT_S
        while process.poll() is None and monotonic() < deadline:
            try:
                process.wait(max(0, deadline - monotonic()))
            except subprocess.TimeoutExpired:
                pass
