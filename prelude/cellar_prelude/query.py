"""Paths into JSON values, as `output` takes them: `.a.b[0]["a key"]`."""
__builtins__ = __import__("builtins").__dict__.copy()

import json
import re

_STEP = re.compile(r"""
    \.?(?P<name>[A-Za-z_][\w-]*)
    | \.?\[ \s* (?P<index>-?\d+) \s* \]
    | \.?\[ \s* (?P<quoted>"(?:[^"\\]|\\.)*" | '[^']*') \s* \]""", re.VERBOSE)
_MAX_KEYS_SHOWN = 20


def parse(query: str) -> list[str | int]:
    """The steps of a path. `.` alone is the whole value."""
    text = query.strip()
    steps, position = [], 0
    while position < len(text) and text != ".":
        match = _STEP.match(text, position)
        if match is None or (match["name"] and position and text[position] != "."):
            raise ValueError(f"query {query!r}: not understood at {text[position:]!r}; "
                             """a query looks like .a.b[0]["a key"]""")
        steps.append(_step(match))
        position = match.end()
    return steps


def apply(value, steps: list[str | int]):
    """What the path leads to. Raises LookupError that says where it ends and what is there."""
    place = ""
    for step in steps:
        if isinstance(step, str):
            if not isinstance(value, dict):
                raise LookupError(f"{place or 'the value'} is {_kind(value)}, which has no key {step!r}")
            if step not in value:
                keys = ", ".join(map(repr, list(value)[:_MAX_KEYS_SHOWN])) or "none"
                raise LookupError(f"{place or 'the value'} has no key {step!r}; its keys: {keys}")
        elif not isinstance(value, list):
            raise LookupError(f"{place or 'the value'} is {_kind(value)}, not a list")
        elif not -len(value) <= step < len(value):
            raise LookupError(f"{place or 'the value'} has {len(value)} items, so there is no [{step}]")
        value = value[step]
        place += f"[{step!r}]" if isinstance(step, int) or not step.isidentifier() else f".{step}"
    return value


def _step(match):
    if match["name"]:
        return match["name"]
    if match["index"]:
        return int(match["index"])
    quoted = match["quoted"]
    if quoted[0] == "'":
        return quoted[1:-1]
    return json.loads(quoted)


def _kind(value):
    names = {dict: "an object", list: "a list", str: "text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")
