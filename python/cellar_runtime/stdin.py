"""sys.stdin of a worker: lines that a person types, where the host offers one. Otherwise nobody is there to answer, and a
read ends the cell with a clear error instead of hanging."""
__builtins__ = __import__("builtins").__dict__.copy()

import io
import sys

from cellar_runtime.fixed_class import FixedClass


class StdinNotAvailable(RuntimeError):
    """Raised where a cell reads standard input and there is none."""

    def __init__(self):
        super().__init__("this session has no standard input: input(), getpass() and debuggers cannot be used here; "
                         "pass the value in the code")


class Stdin(io.TextIOBase, metaclass=FixedClass):
    """A text stream that asks for each line when it is read; remembers whether somebody tried in vain."""

    def __init__(self):
        self.requested = False
        self.name = "<stdin>"
        self.mode = "r"
        # ask(hidden) gives a line with its newline, "" at the end of the input, None where nobody can be asked.
        self.ask = lambda hidden: None
        self.buffer = _Bytes(self.ask_line)

    encoding = "utf-8"
    errors = "strict"

    def renew(self) -> bool:
        """Before each cell: nobody has tried yet, and what another cell left of its line is not for this one. False when a
        cell has replaced a part of it; none of that is called."""
        self.requested = False
        buffer = self.__dict__.get("buffer")
        if type(buffer) is not _Bytes or "renew" in self.__dict__:
            return False
        buffer.rest = b""
        return True

    def ask_line(self, hidden=False):
        line = self.ask(hidden)
        if line is None:
            self.requested = True
            raise StdinNotAvailable
        return line

    def close(self):
        """Nothing: exit() closes it, and the session goes on."""

    def readline(self, size=-1, /):
        line = self.buffer.readline().decode("utf-8", "replace")
        if size is None or size < 0:
            return line
        self.buffer.rest = line[size:].encode() + self.buffer.rest
        return line[:size]

    def read(self, size=-1, /):
        return "".join(_lines(self.readline, size))

    def fileno(self):
        return 0

    def readable(self):
        return True

    def isatty(self):
        return False


class _Bytes(io.BufferedIOBase, metaclass=FixedClass):
    """The same as bytes."""

    def __init__(self, ask_line):
        self._ask_line = ask_line
        self.rest = b""  # of a line that was read in part

    def close(self):
        """Nothing, like that of Stdin: exit() closes it, and the session goes on."""

    def readable(self):
        return True

    def readline(self, size=-1, /):
        line = self.rest or self._ask_line().encode("utf-8", "replace")
        end = line.find(b"\n") + 1 or len(line)
        if size is not None and size >= 0:
            end = min(end, size)
        self.rest = line[end:]
        return line[:end]

    read1 = readline

    def read(self, size=-1, /):
        return b"".join(_lines(self.readline, size))


def was_requested(stdin) -> bool:
    """Whether a cell has tried to read it in vain. Nothing is asked of what a cell has made of it."""
    return type(stdin) is Stdin and stdin.__dict__.get("requested") is True


def set_requested(stdin, requested: bool) -> None:
    """The same, to be remembered."""
    if type(stdin) is Stdin:
        stdin.__dict__["requested"] = requested


def _lines(readline, size):
    """Lines up to that size, or to the end of the input."""
    is_endless = size is None or size < 0
    while is_endless or size > 0:
        line = readline(-1 if is_endless else size)
        if not line:
            return
        yield line
        if not is_endless:
            size -= len(line)


def hook_getpass(stdin):
    """What to call with the module getpass: there is no terminal here whose echo could be turned off."""

    def hook(module):
        def getpass(prompt="Password: ", stream=None):
            """Asks for a line that is not shown while it is typed."""
            out = stream or sys.stdout
            out.write(prompt)
            out.flush()
            line = stdin.ask_line(hidden=True)
            if not line:
                raise EOFError
            return line.rstrip("\n")

        module.getpass = getpass

    return hook
