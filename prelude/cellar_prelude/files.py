"""Files as text: `read`, `write`, `append`, `diff`."""
__builtins__ = __import__("builtins").__dict__.copy()

import errno
import os
import stat

from cellar_prelude import arguments
from cellar_prelude.status import note
from cellar_runtime import late_import

MAX_BYTES = 64 << 20  # that one call reads
_PREVIEW_CHARS = 500
_BINARY_PROBE_BYTES = 8192


def read(path, offset=1, limit=None) -> str:
    """Read a text file (UTF-8), or some lines of it, with their line ends.

        read("notes.md")                       the whole file
        read("big.log", offset=100, limit=20)  lines 100 to 119; an offset past the end gives ""

    A directory, a file that is not text, and more than 64 MiB at once are errors that say so.
    """
    path = arguments.path("read", path)
    first, count = arguments.line_range("read", offset, limit)
    data = read_lines(path, first, count)
    text = _decode(path, data)
    note("read", path=path, chars=len(text), preview=text[:_PREVIEW_CHARS])
    return text


def write(path, content) -> str:
    """Write text (as UTF-8) or bytes to a file, in place of what it held. Returns the resolved path.

    Directories that are missing are made.
    """
    return _put("write", "wb", path, content)


def append(path, content) -> str:
    """Add text (as UTF-8) or bytes to the end of a file, which is made if it is missing. Returns the resolved path."""
    return _put("append", "ab", path, content)


def diff(a, b) -> str:
    """The unified diff from file `a` to file `b`; "" when they are the same.

    A missing newline at the end is marked as `diff -u` does. Bytes that are not UTF-8 are shown as \\xNN; of binary
    files it is only said that they differ.
    """
    a, b = arguments.path("diff", a), arguments.path("diff", b)
    old, new = read_lines(a), read_lines(b)
    if old == new:
        text = ""
    elif b"\0" in old[:_BINARY_PROBE_BYTES] or b"\0" in new[:_BINARY_PROBE_BYTES]:
        text = f"Binary files {a} and {b} differ\n"
    else:
        text = _unified(a, b, old, new)
    note("diff", file_a=a, file_b=b, identical=old == new, preview=text[:_PREVIEW_CHARS])
    return text


def read_lines(path: str, first: int = 1, count: int | None = None, opener=None) -> bytes:
    """`count` lines from line `first` on, as they are in the file; at most MAX_BYTES."""
    # Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
    with open(path, "rb", opener=opener or _open_without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError(f"{path} is not a regular file")
        if first == 1 and count is None:
            return _bounded(path, file.read(MAX_BYTES + 1))
        return _range(path, file, first, count)


def _range(path, file, first, count):
    lines, size, number = [], 0, 0
    while count is None or len(lines) < count:
        line = file.readline(MAX_BYTES + 1)
        number += 1
        if not line:
            break
        _bounded(path, line)
        if number >= first:
            lines.append(line)
            size += len(line)
            if size > MAX_BYTES:
                raise _too_large(path)
    return b"".join(lines)


def _open_without_waiting(path, flags):
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def _bounded(path, data):
    if len(data) > MAX_BYTES:
        raise _too_large(path)
    return data


def _too_large(path):
    return ValueError(f"{path}: this is more than the {MAX_BYTES >> 20} MiB that are read at once (the file has "
                      f"{os.path.getsize(path)} bytes); ask for fewer lines with offset and limit, or use open()")


def _decode(path, data):
    if b"\0" in data[:_BINARY_PROBE_BYTES]:
        raise ValueError(f"{path} is a binary file of {os.path.getsize(path)} bytes, not text; use open(path, 'rb')")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text (byte 0x{data[error.start]:02x} at {error.start}); "
                         "use open(path, encoding=...) or open(path, 'rb')") from None


def _put(helper, mode, path, content):
    path = arguments.path(helper, path)
    if isinstance(content, str):
        data = content.encode()
    elif isinstance(content, (bytes, bytearray, memoryview)):
        data = bytes(content)
    else:
        raise TypeError(f"{helper}() needs text or bytes, not {type(content).__name__}")
    if path.endswith(os.sep):  # realpath() would drop it, and make a file of that name
        raise IsADirectoryError(errno.EISDIR, f"{helper}() needs a file, not a directory", path)
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, mode) as file:
        file.write(data)
    note(helper, path=path, chars=len(content))
    return path


def _unified(a, b, old, new):
    lines = []
    for line in late_import.load("difflib").unified_diff(_split(old), _split(new), a, b):
        shown = line.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        lines.append(shown if shown.endswith("\n") else f"{shown}\n\\ No newline at end of file\n")
    return "".join(lines)


def _split(data):
    # Compared with their undecodable bytes, and only at "\n": splitlines() knows ten more line ends.
    text = data.decode("utf-8", "surrogateescape")
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
