"""Finds the lines of a cell that are not Python: `!cmd`, `%magic`, `name?`.

Knows just enough of Python's lexical rules to leave strings, brackets and continued lines alone.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import re

_CELL_MAGIC = re.compile(r"\s*%%(?P<name>[A-Za-z_]\w*)[ \t]*(?P<rest>[^\n]*)(?:\n|\Z)")
_SHELL = re.compile(r"(?P<indent>\s*)!!?(?P<rest>.*)", re.DOTALL)
_MAGIC = re.compile(r"(?P<indent>\s*)%(?P<name>[A-Za-z_]\w*)(?:[ \t]+(?P<rest>.*))?\s*\Z", re.DOTALL)
_ASSIGNED = re.compile(r"(?P<indent>\s*)(?P<target>[^\s=!%'\"#][^=!%#]*?)\s*=\s*(?P<source>[!%].*)", re.DOTALL)
_HELP = re.compile(r"(?P<indent>\s*)(?P<before>\?{0,2})(?P<object>[A-Za-z_][\w.]*)(?P<after>\?{0,2})\s*\Z")
# What matters for where a logical line ends: quotes, brackets, comments.
_TOKEN = re.compile(r"""'''|\"""|['"]|[()\[\]{}]|\#""")
_OPENING, _CLOSING = "([{", ")]}"


class Line:
    """A line that is not Python. `kind` is shell, magic or help; `target` is what it is assigned to, or empty."""

    __slots__ = ("number", "count", "indent", "target", "kind", "name", "rest")

    def __init__(self, number, count, indent, target, kind, name, rest):
        self.number = number  # from 1
        self.count = count  # of physical lines, when it was continued by backslashes
        self.indent = indent
        self.target = target
        self.kind = kind
        self.name = name
        self.rest = rest


def cell_magic(text: str) -> tuple[str, str, int] | None:
    """(name, rest of its line, where the body begins) when the whole cell belongs to a magic."""
    match = _CELL_MAGIC.match(text)
    return None if match is None else (match["name"], match["rest"].strip(), match.end())


def without_magics(text: str) -> str:
    """The text with something that does nothing in the place of each line that is not Python."""
    magic = cell_magic(text)
    if magic is not None:
        own = text[:magic[2]]
        text = "\n" * own.count("\n") + text[magic[2]:]
    lines = text.split("\n")
    for line in find(text):
        lines[line.number - 1:line.number - 1 + line.count] = [line.indent + "pass", *[""] * (line.count - 1)]
    return "\n".join(lines)


def find(text: str) -> list[Line]:
    """The lines that are not Python, in their order."""
    lines = text.split("\n")
    found, state, number = [], _State(), 0
    while number < len(lines):
        if state.is_between_statements:
            joined, count = _join(lines, number)
            line = _recognise(joined, number + 1, count)
            if line is not None:
                found.append(line)
                number += count
                continue
        state.read(lines[number])
        number += 1
    return found


def _join(lines, number):
    """The line with those that backslashes continue it by, and how many they are."""
    parts = [lines[number]]
    while parts[-1].endswith("\\") and number + len(parts) < len(lines):
        parts[-1] = parts[-1][:-1]
        parts.append(lines[number + len(parts)])
    return "".join(parts), len(parts)


def _recognise(line, number, count):
    match = _ASSIGNED.match(line)
    if match is not None:
        inner = _recognise(match["source"], number, count)
        if inner is None or inner.kind == "help" or not _can_be_assigned(match["target"]):
            return None
        inner.indent, inner.target = match["indent"], match["target"].strip()
        return inner
    if match := _SHELL.match(line):
        return Line(number, count, match["indent"], "", "shell", "", match["rest"].strip())
    if match := _MAGIC.match(line):
        return Line(number, count, match["indent"], "", "magic", match["name"], (match["rest"] or "").strip())
    if (match := _HELP.match(line)) and (match["before"] or match["after"]):
        detail = "??" if "??" in (match["before"], match["after"]) else "?"
        return Line(number, count, match["indent"], "", "help", detail, match["object"].strip("."))
    return None


def _can_be_assigned(target):
    try:
        compile(f"{target} = None", "", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


class _State:
    """Where a scan stands: in which string, how deep in brackets, whether a backslash continues the line."""

    def __init__(self):
        self._quote = ""
        self._depth = 0
        self._continued = False

    @property
    def is_between_statements(self):
        return not (self._quote or self._depth or self._continued)

    def read(self, line):
        position = 0
        while True:
            if self._quote:
                position = self._end_of_string(line, position)
                if position < 0:
                    break
            match = _TOKEN.search(line, position)
            if match is None or match[0] == "#":
                break
            position = match.end()
            if match[0] in _OPENING:
                self._depth += 1
            elif match[0] in _CLOSING:
                self._depth = max(0, self._depth - 1)
            else:
                self._quote = match[0]
        is_comment = not self._quote and "#" in line[position:]
        self._continued = line.endswith("\\") and not is_comment
        if len(self._quote) == 1 and not self._continued:
            self._quote = ""  # a string that was not closed on its line: a mistake that ends here

    def _end_of_string(self, line, position):
        """The place after the closing quote, or -1 when the line has none."""
        while position < len(line):
            if line[position] == "\\":
                position += 2
            elif line.startswith(self._quote, position):
                position += len(self._quote)
                self._quote = ""
                return position
            else:
                position += 1
        return -1
