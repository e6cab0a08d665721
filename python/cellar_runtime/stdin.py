"""sys.stdin of a worker: nobody is there to answer, so a read ends the cell with a clear error instead of hanging."""
__builtins__ = __import__("builtins").__dict__.copy()

import io


class StdinNotAvailable(RuntimeError):
    """Raised where a cell reads standard input."""

    def __init__(self):
        super().__init__("this session has no standard input: input(), getpass() and debuggers cannot be used here; "
                         "pass the value in the code")


class NoStdin(io.TextIOBase):
    """A text stream of which nothing can be read; remembers whether somebody tried."""

    def __init__(self):
        self.requested = False
        self.name = "<stdin>"
        self.mode = "r"

    encoding = "utf-8"
    errors = "strict"

    def _refuse(self, *_ignored):
        self.requested = True
        raise StdinNotAvailable

    read = readline = readlines = _refuse
    __next__ = _refuse

    @property
    def buffer(self):
        """Reading bytes is refused just the same."""
        return self

    def fileno(self):
        return 0

    def readable(self):
        return True

    def isatty(self):
        return False
