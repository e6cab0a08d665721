"""What Python would do at the end of a process, and the worker, which is never finalised, has to do itself."""
__builtins__ = __import__("builtins").__dict__.copy()

from _io import (
    BufferedRandom, BufferedReader, BufferedWriter, BytesIO, FileIO, StringIO, TextIOWrapper, _IOBase)

import _cellar
from cellar_runtime import untrusted

_TEXT, _BUFFERED = (TextIOWrapper, _cellar.TextStream), (BufferedWriter, BufferedRandom)
_WITHOUT_BUFFER = (FileIO, BufferedReader, BytesIO, StringIO)  # for writing, to a file


def flush_files() -> None:
    """Writes out what is in the buffers of files that cells have left open, and closes those whose end is made only then,
    like gzip's. Text first, then what may stand between it and a file's own buffer."""
    files = _cellar.live_objects((_IOBase,), False)
    files.reverse()  # one that writes through another was made after it
    others = [file for file in files if not untrusted.is_one_of(type(file), (*_TEXT, *_BUFFERED, *_WITHOUT_BUFFER))]
    for method, kind in (("flush", _of(files, _TEXT)), ("close", others), ("flush", _of(files, _BUFFERED))):
        for file in kind:
            try:
                getattr(file, method)()
            except BaseException:
                pass  # closed already, a full disk, a cell's own class: the others must not suffer from it


def _of(files, types):
    return [file for file in files if untrusted.is_one_of(type(file), types)]
