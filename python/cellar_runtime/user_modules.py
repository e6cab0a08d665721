"""The user's own helpers: files that are run in every fresh namespace before its first cell."""
__builtins__ = __import__("builtins").__dict__.copy()

import os

_scandir, _join, _compile, _exec = os.scandir, os.path.join, compile, exec
_MAX_BYTES = 1 << 20


def find(directories) -> list[str]:
    """Paths of the `*.py` files, by name; a file of a later directory replaces one of the same name."""
    found = {}
    for directory in directories:
        try:
            with _scandir(directory) as entries:
                found.update((entry.name, entry.path) for entry in entries
                             if entry.name.endswith(".py") and entry.is_file())
        except OSError:
            continue  # most sessions have none
    return [found[name] for name in sorted(found)]


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
