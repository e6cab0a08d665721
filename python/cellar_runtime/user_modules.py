"""The user's own helpers: files that are run before a session's first cell. What they bind is kept as helpers are."""
__builtins__ = __import__("builtins").__dict__.copy()

import os

import _cellar
from cellar_runtime import tracebacks, untrusted

_scandir, _join, _compile, _exec = os.scandir, os.path.join, compile, exec
_guarded = _cellar.guarded
_MAX_BYTES = 1 << 20


class UserModules:
    def __init__(self, namespace):
        self._namespace = namespace
        self._directories = []  # until the first cell has looked into them
        self._paths = []  # of files that are still to be loaded

    def look_in(self, home: str | None, cwd: str) -> None:
        """The user's are in `home`, the project's in `cwd`. They are loaded by the first cell, and not now, so that one that
        hangs is in reach of its time-out."""
        self._directories = [_join(base, ".cellar", "modules") for base in (home, cwd) if base]

    def load(self, cell: int) -> None:
        """Before each cell. Of one that fails a notice says so, and the others are loaded all the same."""
        if self._directories:
            self._paths = _find(self._directories)
            self._directories = []
        while self._paths:
            path = self._paths.pop(0)
            try:
                _guarded(_run, path, self._namespace.globals)
            except untrusted.FAILURES as error:
                ename, evalue = _guarded(tracebacks.format_error, error)[:2]
                _cellar.send_notice(cell, f"the module {untrusted.valid_text(path)} failed: {ename}: {evalue}")
            except BaseException:
                _cellar.send_notice(cell, f"the module {untrusted.valid_text(path)} was interrupted")
                raise
            finally:
                self._namespace.keep_helpers()


def _find(directories):
    """Paths of the `*.py` files, those of the first directory first, each by name; a file of a later directory replaces
    one of the same name."""
    paths, names = [], set()
    for directory in reversed(directories):
        added = _names_in(directory) - names
        paths[:0] = [_join(directory, name) for name in sorted(added)]
        names |= added
    return paths


def _names_in(directory):
    try:
        with _scandir(directory) as entries:
            return {entry.name for entry in entries if entry.name.endswith(".py") and entry.is_file()}
    except OSError:
        return set()  # most sessions have none


def _run(path, names):
    """Runs one file as if its text stood in a cell."""
    with open(path, "rb") as file:
        source = file.read(_MAX_BYTES + 1)
    if len(source) > _MAX_BYTES:
        raise ValueError(f"larger than {_MAX_BYTES} bytes")
    _exec(_compile(source, path, "exec", dont_inherit=True), names)
