"""Checks of what a cell gives to a helper. Each raises an error that names the helper and the argument."""
__builtins__ = __import__("builtins").__dict__.copy()

import os

from cellar_runtime import late_import


def path(helper: str, value) -> str:
    """A path as text, `~` replaced by the home directory."""
    try:
        text = os.fspath(value)
    except TypeError:
        raise TypeError(f"{helper}() needs a path, not {_kind(value)}") from None
    text = os.fsdecode(text)
    if not text:
        raise ValueError(f"{helper}() needs a path, not an empty string")
    if "\0" in text:
        raise ValueError(f"{helper}(): a path cannot contain NUL")
    return os.path.expanduser(text)


def text(helper: str, name: str, value) -> str:
    """A string that is not empty."""
    if not isinstance(value, str):
        raise TypeError(f"{helper}(): {name} must be a string, not {_kind(value)}")
    if not value.strip():
        raise ValueError(f"{helper}(): {name} is empty")
    return value


def optional_text(helper: str, name: str, value) -> str | None:
    return None if value is None else text(helper, name, value)


def number(helper: str, name: str, value, least: int) -> int:
    """An integer of at least `least`."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{helper}(): {name} must be an integer, not {_kind(value)}")
    value = value.__index__()
    if value < least:
        raise ValueError(f"{helper}(): {name} must be at least {least}, not {value}")
    return value


def line_range(helper: str, offset, limit) -> tuple[int, int | None]:
    """The first line (from 1) and how many, None for all of them."""
    first = 1 if offset is None else number(helper, "offset", offset, 1)
    return first, None if limit is None else number(helper, "limit", limit, 0)


def schema(helper: str, value) -> dict | None:
    """A JSON Schema that an answer can be checked against."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise TypeError(f"{helper}(): schema must be a dict that holds a JSON Schema, not {_kind(value)}")
    flaw = late_import.load("cellar_prelude.schema_form").find_flaw(value)
    if flaw:
        raise ValueError(f"{helper}(): this is no JSON Schema: {flaw}")
    return value


def _kind(value) -> str:
    return type(value).__name__
