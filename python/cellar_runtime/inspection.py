"""What an object is: type, signature, docstring, source. For `name?` and for prompts and editors. Runs no user code."""
__builtins__ = __import__("builtins").__dict__.copy()

import ast
import inspect
import re

from cellar_runtime import cell_sources, magic_lines, static_lookup, untrusted
from cellar_runtime.static_lookup import MISSING

MAX_TEXT_CHARS = 200_000
_MAX_VALUE_CHARS = 200
_MAX_ARGUMENT_CHARS = 10_000
_SHOWN_BY_REPR = (int, float, complex, bool, str, bytes, type(None))
_AFTER_CURSOR = re.compile(r"\w*")


def inspect_at(names: dict, text: str, cursor: int, with_source: bool) -> dict:
    """What stands at the cursor, or else the function in whose brackets the cursor is. `found` is False for neither."""
    before = text[:cursor]
    word = _AFTER_CURSOR.match(text, cursor)[0]
    for candidate in (static_lookup.path_at_end(before + word), enclosing_call(before)):
        value = static_lookup.resolve(names, candidate) if candidate else MISSING
        if value is not MISSING:
            return {"found": True, **facts(candidate, value, with_source)}
    return {"found": False}


def facts(name: str, value, with_source: bool) -> dict:
    """All that is known of an object without running code of it; empty where nothing is."""
    signature = static_lookup.signature(value)
    is_shown = untrusted.is_one_of(type(value), _SHOWN_BY_REPR)
    found = {"name": name, "type": untrusted.type_name(type(value)), "kind": static_lookup.kind(value),
             "signature": f"{name.rpartition('.')[2]}{signature}" if signature else "",
             "docstring": untrusted.cut_end(static_lookup.docstring(value), MAX_TEXT_CHARS),
             "value": untrusted.cut_end(repr(value), _MAX_VALUE_CHARS) if is_shown else ""}
    if with_source:
        found["source"] = untrusted.cut_end(_source(value), MAX_TEXT_CHARS)
    return found


def describe(names: dict, name: str, with_source: bool) -> str:
    """The facts as text for a person."""
    value = static_lookup.resolve(names, name)
    if value is MISSING:
        return f"Object `{name}` not found."
    known = facts(name, value, with_source)
    rows = [("Signature", known["signature"]), ("Type", known["type"]), ("Value", known["value"]),
            ("Source", "\n" + known["source"].rstrip() if known.get("source") else ""),
            ("Docstring", "\n" + known["docstring"] if known["docstring"] and not known.get("source") else "")]
    return "\n".join(f"{label + ':':<10} {text}".rstrip() if not text.startswith("\n") else f"{label}:{text}"
                     for label, text in rows if text)


def enclosing_call(before: str) -> str:
    """The path of the function whose arguments the end of the text is in, or nothing."""
    depth = 0
    for position in range(len(before) - 1, max(-1, len(before) - _MAX_ARGUMENT_CHARS), -1):
        character = before[position]
        if character in ")]}":
            depth += 1
        elif character in "([{":
            path = static_lookup.path_at_end(before[:position]) if depth == 0 and character == "(" else ""
            if path:
                return path
            depth = max(0, depth - 1)
    return ""


def _source(value):
    if type(value) is property:
        value = value.fget
    if static_lookup.kind(value) not in ("function", "class", "module"):
        return ""  # inspect would ask an instance for its __wrapped__
    try:
        return inspect.getsource(value)
    except (OSError, TypeError):
        return _source_of_class(value) if static_lookup.kind(value) == "class" else ""


def _source_of_class(cls):
    """inspect does not find what a cell has defined, since a cell is no file; the newest cell that has it is right."""
    name = untrusted.type_name(cls)
    for lines in cell_sources.newest_first():
        text = "".join(lines)
        if f"class {name}" not in text:
            continue
        try:
            tree = ast.parse(magic_lines.without_magics(text))
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name == name:
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                return "".join(lines[first - 1:node.end_lineno])
    return ""
