"""Modules of the runtime that few sessions need: imported on first use, so that no worker starts later for them."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys
from importlib import import_module

_path = list(sys.path)  # of the template, which knows no directory of a user


def load(name: str):
    """The module. What it imports is the standard library's, also where a session's directory has files of such names."""
    module = sys.modules.get(name)
    if module is not None:
        return module
    before, sys.path[:] = list(sys.path), _path
    try:
        return import_module(name)
    finally:
        sys.path[:] = before
