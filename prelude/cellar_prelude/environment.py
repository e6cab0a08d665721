"""`env`: the environment variables of the session."""
__builtins__ = __import__("builtins").__dict__.copy()

import os

from cellar_prelude.status import note

_MAX_KEYS_NOTED = 20


def env(key=None, value=None):
    """Read or set environment variables of this session.

        env()              all of them, a dict in the order of names
        env("HOME")        the value, or None where it is not set
        env("LANG", "C")   sets it, for this process and those it starts, and returns the value
    """
    # Events are shown and kept, and values may be secrets: only names are noted.
    if key is None:
        if value is not None:
            raise TypeError("env(): a value needs a key")
        variables = dict(sorted(os.environ.items()))
        note("env", count=len(variables), keys=list(variables)[:_MAX_KEYS_NOTED])
        return variables
    _check(key, value)
    if value is not None:
        os.environ[key] = value
    note("env", key=key, action="get" if value is None else "set")
    return os.environ.get(key)


def _check(key, value):
    if not isinstance(key, str):
        raise TypeError(f"env(): a key is a string, not {type(key).__name__}")
    if not key or "=" in key or "\0" in key:
        raise ValueError(f"env(): {key!r} cannot be the name of a variable")
    if value is not None and not isinstance(value, str):
        raise TypeError(f"env(): a value is a string, not {type(value).__name__}; use str({value!r})")
    if value is not None and "\0" in value:
        raise ValueError("env(): a value cannot contain NUL")
