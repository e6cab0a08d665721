"""sys.stdout and sys.stderr of a worker, made so that what a cell expects of them is there."""
__builtins__ = __import__("builtins").__dict__.copy()

import io

import _cellar
from cellar_runtime.fixed_class import FixedClass


class _Bytes(io.BufferedIOBase, metaclass=FixedClass):
    """The `buffer` of an output stream. Unbuffered, so that bytes and text keep their order. Has no attributes of its own:
    that shows a cell's."""

    mode = "wb"

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
        _cellar.expect_other_writers()  # what asks for it, to keep the order of what both write
        return self._number

    def isatty(self):
        return False


class _StdoutBytes(_Bytes):
    _number, name = 1, "<stdout>"


class _StderrBytes(_Bytes):
    _number, name = 2, "<stderr>"


def make_stream(number: int) -> io.TextIOBase:
    """The text stream for fd 1 or 2."""
    buffer = _StdoutBytes() if number == 1 else _StderrBytes()
    stream = _cellar.TextStream(buffer, encoding="utf-8", errors="backslashreplace", write_through=True)
    stream.mode = "w"
    _cellar.bind_stream(stream, number)
    return stream
