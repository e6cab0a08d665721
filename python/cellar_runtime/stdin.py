"""sys.stdin of a worker: lines that a person types, where the host offers one. Otherwise nobody is there to answer, and a
read ends the cell with a clear error instead of hanging."""
__builtins__ = __import__("builtins").__dict__.copy()

import io
import sys


class StdinNotAvailable(RuntimeError):
    """Raised where a cell reads standard input and there is none."""

    def __init__(self):
        super().__init__("this session has no standard input: input(), getpass() and debuggers cannot be used here; "
                         "pass the value in the code")


class Stdin(io.TextIOBase):
    """A text stream that asks for each line when it is read; remembers whether somebody tried in vain."""

    def __init__(self):
        self.requested = False
        self.name = "<stdin>"
        self.mode = "r"
        # ask(hidden) gives a line with its newline, "" at the end of the input, None where nobody can be asked.
        self.ask = lambda hidden: None
        self._rest = ""  # of a line that was read in part

    encoding = "utf-8"
    errors = "strict"

    def renew(self):
        """Before each cell: nobody has tried yet, and what another cell left of its line is not for this one."""
        self.requested = False
        self._rest = ""

    def ask_line(self, hidden=False):
        line = self.ask(hidden)
        if line is None:
            self.requested = True
            raise StdinNotAvailable
        return line

    def readline(self, size=-1, /):
        line = self._rest or self.ask_line()
        end = line.find("\n") + 1 or len(line)
        if size is not None and size >= 0:
            end = min(end, size)
        self._rest = line[end:]
        return line[:end]

    def read(self, size=-1, /):
        text = ""
        while size is None or size < 0 or len(text) < size:
            line = self.readline(-1 if size is None or size < 0 else size - len(text))
            if not line:
                break
            text += line
        return text

    @property
    def buffer(self):
        """The same as bytes."""
        return _Bytes(self)

    def fileno(self):
        return 0

    def readable(self):
        return True

    def isatty(self):
        return False


class _Bytes(io.BufferedIOBase):
    def __init__(self, text):
        self._text = text

    def readable(self):
        return True

    def readline(self, size=-1, /):
        return self._text.readline(size).encode()

    def read(self, size=-1, /):
        return self._text.read(size).encode()


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
