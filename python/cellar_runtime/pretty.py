"""The text/plain form of a value: its repr, with long built-in containers laid out over lines.

Time and memory are bounded by what is shown, not by what the value holds: a list of a million
numbers is cut after its first MAX_ITEMS.
"""

__builtins__ = __import__("builtins").__dict__.copy()

import os
from collections import Counter, OrderedDict, defaultdict, deque
from itertools import islice

from cellar_runtime import untrusted

USUAL_COLUMNS = 80
MAX_ITEMS = 1000
MAX_DEPTH = 100
MAX_CHARS = 1 << 20

_environment = os.environb
_ELLIPSIS = "..."
_UNBREAKABLE = 1 << 60  # the width of a group that holds a multi-line text: it never fits one line


def pretty(obj: object) -> str:
    """The text of obj, at most MAX_CHARS characters and a mark. Fails only when interrupted."""
    try:
        text = _Layout().text_of(obj)
    except untrusted.FAILURES:  # a container that changed while it was read
        text = untrusted.safe_repr(obj)
    return untrusted.cut_end(text, MAX_CHARS)


class _Group:
    """A container as texts and groups: `opening`, (prefix, node) items, `closing`."""

    __slots__ = ("opening", "items", "closing", "width")

    def __init__(self, opening: str, items: list, closing: str):
        self.opening = opening
        self.items = items
        self.closing = closing
        separators = 2 * max(len(items) - 1, 0)
        widths = sum(len(prefix) + _width(node) for prefix, node in items)
        self.width = len(opening) + widths + separators + len(closing)


class _Layout:
    """Lays one value out: first a tree of groups, then lines, each in time linear in the text."""

    def __init__(self):
        self._open = set()  # ids of the containers being walked
        self._chars = 0

    def text_of(self, obj: object) -> str:
        out = []
        _emit(self._node(obj, 0), _max_columns(), 0, 0, out)
        return "".join(out)

    def _node(self, obj: object, depth: int) -> "str | _Group":
        parts_of = _parts_for(type(obj))
        if parts_of is None:
            text = untrusted.safe_repr(obj)
            self._chars += len(text) + 2
            return text
        opening, values, closing, is_mapping = parts_of(obj)
        if id(obj) in self._open or depth >= MAX_DEPTH:
            return f"{opening}{_ELLIPSIS}{closing}"
        self._open.add(id(obj))
        items = []
        for value in islice(values, MAX_ITEMS + 1):
            if len(items) == MAX_ITEMS or self._chars > MAX_CHARS:
                items.append(("", _ELLIPSIS))
                break
            items.append(self._item(value, is_mapping, depth + 1))
        self._open.discard(id(obj))
        self._chars += len(opening) + len(closing)
        return _Group(opening, items, closing)

    def _item(self, value: object, is_mapping: bool, depth: int) -> tuple:
        if not is_mapping:
            return "", self._node(value, depth)
        key, value = value
        return _one_line(self._node(key, depth)) + ": ", self._node(value, depth)


def _max_columns() -> int:
    """That a line may have: one less than COLUMNS, which a prompt sets, so that no terminal wraps it."""
    try:
        columns = int(_environment.get(b"COLUMNS", 0))
    except untrusted.FAILURES:  # no number
        columns = 0
    return (columns or USUAL_COLUMNS) - 1


def _emit(node: "str | _Group", max_columns: int, column: int, trailing: int, out: list) -> None:
    """Appends node's text as from `column`, with `trailing` characters to come after it."""
    if type(node) is str:
        out.append(node.replace("\n", "\n" + " " * column))
    elif column + node.width + trailing <= max_columns:
        out.append(_one_line(node))
    else:
        out.append(node.opening)
        column += len(node.opening)
        last = len(node.items) - 1
        for index, (prefix, child) in enumerate(node.items):
            out.append(prefix)
            after = trailing + len(node.closing) if index == last else 1
            _emit(child, max_columns, column + len(prefix), after, out)
            if index != last:
                out.append(",\n" + " " * column)
        out.append(node.closing)


def _one_line(node: "str | _Group") -> str:
    if type(node) is str:
        return node
    inside = ", ".join(prefix + _one_line(child) for prefix, child in node.items)
    return f"{node.opening}{inside}{node.closing}"


def _width(node: "str | _Group") -> int:
    if type(node) is str:
        return _UNBREAKABLE if "\n" in node else len(node)
    return node.width


def _sorted(values: "set | frozenset") -> object:
    """In order where there is one, so that equal sets look equal; long ones as they come."""
    if len(values) > MAX_ITEMS:
        return values
    try:
        return sorted(values)
    except untrusted.FAILURES:
        return values


def _set_parts(value: set) -> tuple:
    return ("{", _sorted(value), "}", False) if value else ("set()", (), "", False)


def _frozenset_parts(value: frozenset) -> tuple:
    return ("frozenset({", _sorted(value), "})", False) if value else ("frozenset()", (), "", False)


def _deque_parts(value: deque) -> tuple:
    closing = "])" if value.maxlen is None else f"], maxlen={value.maxlen})"
    return "deque([", value, closing, False


def _defaultdict_parts(value: defaultdict) -> tuple:
    return f"defaultdict({untrusted.safe_repr(value.default_factory)}, {{", value.items(), "})", True


def _counter_parts(value: Counter) -> tuple:
    return ("Counter({", value.most_common(), "})", True) if value else ("Counter()", (), "", True)


def _ordered_parts(value: OrderedDict) -> tuple:
    if not value:
        return "OrderedDict()", (), "", False
    return "OrderedDict([", value.items(), "])", False


# Each gives, as the type's repr has it: opening, values, closing, whether the values are pairs of
# key and value. By id: a metaclass is not asked for its hash.
_PARTS_BY_TYPE = {
    id(set): _set_parts,
    id(frozenset): _frozenset_parts,
    id(deque): _deque_parts,
    id(defaultdict): _defaultdict_parts,
    id(Counter): _counter_parts,
    id(OrderedDict): _ordered_parts,
}

# Subclasses that kept the repr are shown alike, through the base's methods, as that repr does.
_PARTS_BY_REPR = {
    list.__repr__: lambda value: ("[", list.__iter__(value), "]", False),
    tuple.__repr__: lambda value: ("(", tuple.__iter__(value), _tuple_closing(value), False),
    dict.__repr__: lambda value: ("{", dict.items(value), "}", True),
}


def _tuple_closing(value: tuple) -> str:
    return ",)" if tuple.__len__(value) == 1 else ")"


def _parts_for(cls: type):
    if id(cls) in _PARTS_BY_TYPE:
        return _PARTS_BY_TYPE[id(cls)]
    try:
        return _PARTS_BY_REPR.get(cls.__repr__)
    except untrusted.FAILURES:  # a metaclass that hides the repr, or a repr that cannot be hashed
        return None
