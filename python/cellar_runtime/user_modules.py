"""The user's own helpers: files that are run before a session's first cell. What they bind is kept as helpers are."""
__builtins__ = __import__("builtins").__dict__.copy()

import os

_scandir, _join, _compile, _exec = os.scandir, os.path.join, compile, exec
_MAX_BYTES = 1 << 20


def find(directories) -> list[str]:
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


def directories(home: str, cwd: str) -> list[str]:
    """Where they are: the user's, then the project's."""
    return [_join(base, ".cellar", "modules") for base in (home, cwd) if base]


def load(path: str, names: dict) -> None:
    """Runs one file as if its text stood in a cell."""
    with open(path, "rb") as file:
        source = file.read(_MAX_BYTES + 1)
    if len(source) > _MAX_BYTES:
        raise ValueError(f"larger than {_MAX_BYTES} bytes")
    _exec(_compile(source, path, "exec", dont_inherit=True), names)
