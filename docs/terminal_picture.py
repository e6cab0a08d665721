"""Draws what a terminal shows as an SVG, for the README: runs the prompt in tmux, types, and takes the screen with its
colours.

    docs/terminal_picture.py build/bin/cellar > docs/prompt.svg
"""
import html
import re
import subprocess
import sys
import tempfile
import time
import uuid

COLUMNS, ROWS = 78, 25
CHARACTER, LINE = 8.4, 18  # pixels
FOREGROUND, BACKGROUND = "#d8dee9", "#22272e"
COLOURS = {31: "#f47067", 32: "#8ddb8c", 33: "#e0b55c", 34: "#6cb6ff", 35: "#dcbdfb", 36: "#76d9e6", 90: "#768390"}

KEYS = [
    ("from dataclasses import dataclass", "Enter"),
    ("@dataclass", "Enter", "class Point:", "Enter", "x: int = 0", "Enter", "y: int = 0", "Enter", "Enter"),
    ("p = Point(3, 4)", "Enter"),
    ("print(f\"{p.x * p.y = }\"); p", "Enter"),
    ("p.x = input('how far? '); p", "Enter"),
    ("a long way", "Enter"),
    (":undo", "Enter"),
    ("p", "Enter"),
    ("1 / 0", "Enter"),
    ("sorted([3, 1, 2], ke", "Tab"),
]


def capture(program):
    """The lines of the screen, with escape sequences for colours."""
    socket = f"picture-{uuid.uuid4()}"

    def tmux(*args):
        return subprocess.run(["tmux", "-L", socket, *args], check=True, capture_output=True, text=True).stdout

    with tempfile.TemporaryDirectory() as state:
        tmux("-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS),
             "env", f"XDG_STATE_HOME={state}", "LANG=C.UTF-8", program, "repl")
        try:
            time.sleep(2)
            for keys in KEYS:
                tmux("send-keys", *keys)
                time.sleep(0.6)
            return tmux("capture-pane", "-p", "-e").rstrip("\n").split("\n")
        finally:
            tmux("kill-server")


def runs(line):
    """(style, text) of the parts of a line."""
    style = {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b"):
            if part:
                yield dict(style), part
            continue
        for code in map(int, filter(None, part[2:-1].split(";") or ["0"])):
            if code == 0:
                style.clear()
            elif code == 1:
                style["bold"] = True
            elif code == 2:
                style["dim"] = True
            elif code in COLOURS:
                style["colour"] = COLOURS[code]
            elif code == 39:
                style.pop("colour", None)


def draw(lines):
    width, height = COLUMNS * CHARACTER + 24, len(lines) * LINE + 24
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-size="14" '
          'font-family="ui-monospace, Menlo, Consolas, monospace">')
    print(f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>')
    for row, line in enumerate(lines):
        column = 0
        for style, text in runs(line):
            attributes = f'fill="{style.get("colour", FOREGROUND)}"'
            attributes += ' font-weight="bold"' if style.get("bold") else ""
            attributes += ' opacity="0.6"' if style.get("dim") else ""
            print(f'<text x="{12 + column * CHARACTER:.1f}" y="{26 + row * LINE}" textLength="{len(text) * CHARACTER:.1f}" '
                  f'xml:space="preserve" {attributes}>{html.escape(text)}</text>')
            column += len(text)
    print("</svg>")


if __name__ == "__main__":
    draw(capture(sys.argv[1]))
