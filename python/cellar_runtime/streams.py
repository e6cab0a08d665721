"""sys.stdout and sys.stderr of a worker, made so that what a cell expects of them is there."""
__builtins__ = __import__("builtins").__dict__.copy()

import io

import _cellar


class _Bytes(io.BufferedIOBase):
    """The `buffer` of an output stream. Unbuffered, so that bytes and text keep their order."""

    mode = "wb"

    def __init__(self, number, name):
        self._number = number
        self.name = name

    def write(self, data):
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return _cellar.write(self._number, data)

    @property
    def raw(self):
        return self

    def writable(self):
        return True

    def fileno(self):
        return self._number

    def isatty(self):
        return False


def make_stream(number: int) -> io.TextIOBase:
    """The text stream for fd 1 or 2."""
    name = "<stdout>" if number == 1 else "<stderr>"
    stream = _cellar.TextStream(_Bytes(number, name), encoding="utf-8", errors="backslashreplace",
                                write_through=True)
    stream.mode = "w"
    _cellar.bind_stream(stream, number)
    return stream
