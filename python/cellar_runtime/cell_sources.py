"""The text of cells, and of files, by line: what tracebacks and questions show of it."""

__builtins__ = __import__("builtins").__dict__.copy()

import linecache
import os
from io import StringIO
from stat import S_ISREG

MAX_FILE_BYTES = 16 << 20

_stat, _LINECACHE, _checkcache, _getline = os.stat, linecache.__dict__, linecache.checkcache, linecache.getline
_sources: dict[str, tuple] = {}  # linecache entries of the cells


def register(name: str, text: str) -> None:
    """Makes tracebacks show the lines of `text` for frames of file `name`, from now on."""
    # An entry without a time of modification is one that linecache.checkcache() leaves alone.
    lines = StringIO(text, newline=None).readlines()
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"  # as in linecache; traceback would place the carets wrongly otherwise
    entry = (len(text), None, lines, name)
    _sources[name] = entry
    _put_in_cache(name, entry)


def check(text: str) -> None:
    """Raises where no text could be registered."""
    register("<check>", text)
    del _sources["<check>"], _LINECACHE["cache"]["<check>"]


def forget() -> None:
    """Drops the text of all cells, as before the first."""
    for name in _sources:
        _LINECACHE["cache"].pop(name, None)
    _sources.clear()


def newest_first():
    """The lines of each cell."""
    for _, _, lines, _ in reversed(list(_sources.values())):
        yield lines


def line(filename: str, lineno: int, module_globals: dict | None = None) -> str:
    """The line as it is now in the file, or was in the cell, also after linecache.clearcache()."""
    if filename in _sources:
        _put_in_cache(filename, _sources[filename])
    elif _is_endless(filename):
        return ""
    else:
        _checkcache(filename)
    return _getline(filename, lineno, module_globals)


def _put_in_cache(name, entry):
    """Into a new one, where a cell has replaced it or put keys in it that cannot be compared."""
    try:
        if type(_LINECACHE.get("cache")) is dict:
            _LINECACHE["cache"][name] = entry
            return
    except BaseException as error:
        if issubclass(type(error), KeyboardInterrupt):
            raise
    _LINECACHE["cache"] = dict(_sources)


def _is_endless(filename: str) -> bool:
    """Whether it would be read for long, or for ever: a pipe, a device, a file of no reasonable size."""
    try:
        status = _stat(filename)
    except (OSError, ValueError):
        return False  # not a file; a loader may know it
    return not S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES
