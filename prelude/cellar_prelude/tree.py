"""`tree`: a directory as a picture."""
__builtins__ = __import__("builtins").__dict__.copy()

import os
from collections import deque

from cellar_prelude import arguments
from cellar_prelude.status import note

MAX_ENTRIES = 5000
_PREVIEW_CHARS = 1000


def tree(path=".", max_depth=3, show_hidden=False) -> str:
    """The files and directories below `path`, drawn as a tree: directories first, each by name.

        print(tree("src", max_depth=2))

    Links are shown and not followed. After 5,000 entries the rest is left out, and said to be.
    """
    path = arguments.path("tree", path)
    depth = arguments.number("tree", "max_depth", max_depth, 0)
    if not os.path.isdir(path):
        raise (NotADirectoryError if os.path.exists(path) else FileNotFoundError)(f"tree(): {path} is not a directory")
    picture = _Picture(bool(show_hidden))
    picture.lines.append(path.rstrip("/") + "/")
    picture.draw(path, depth)
    text = "\n".join(picture.lines)
    note("tree", path=path, entries=picture.entries, preview=text[:_PREVIEW_CHARS])
    return text


class _Picture:
    """The lines of a tree while it is drawn."""

    def __init__(self, show_hidden):
        self.lines = []
        self.entries = 0
        self._show_hidden = show_hidden

    def draw(self, root, depth):
        # Directories can be nested deeper than calls: those that are open are kept here, the innermost last.
        open_directories = [(root, "", self._entries_of(root, ""))] if depth else []
        while open_directories:
            directory, margin, entries = open_directories[-1]
            if not entries:
                open_directories.pop()
                continue
            if self.entries == MAX_ENTRIES:
                self.lines.append(f"[... stopped after {MAX_ENTRIES} entries ...]")
                return
            self.entries += 1
            is_file, _, name, is_link = entries.popleft()
            path = os.path.join(directory, name)
            self.lines.append(f"{margin}{'├── ' if entries else '└── '}{_label(path, name, is_file, is_link)}")
            if not is_file and len(open_directories) < depth:
                inner = margin + ("│   " if entries else "    ")
                open_directories.append((path, inner, self._entries_of(path, inner)))

    def _entries_of(self, directory, margin):
        try:
            return deque(self._sorted_entries(directory))
        except OSError as error:
            self.lines.append(f"{margin}└── [{error.strerror}]")
            return deque()

    def _sorted_entries(self, directory):
        with os.scandir(directory) as found:
            # The kind comes with the name: no file is looked at.
            return sorted((not entry.is_dir(follow_symlinks=False), entry.name.lower(), entry.name, entry.is_symlink())
                          for entry in found if self._show_hidden or not entry.name.startswith("."))


def _label(path, name, is_file, is_link):
    # A name may hold line ends, or bytes that are no text.
    shown = name if name.isprintable() else repr(name)[1:-1]
    if is_link:
        try:
            target = os.readlink(path)
        except OSError:
            return shown
        return f"{shown} -> {target if target.isprintable() else repr(target)[1:-1]}"
    return shown if is_file else shown + "/"
