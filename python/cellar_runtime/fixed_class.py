"""Classes of objects that cells can reach, and must not take apart."""
__builtins__ = __import__("builtins").__dict__.copy()

from abc import ABCMeta


class FixedClass(ABCMeta):
    """The metaclass of a class whose attributes stay as they are, as those of Python's own do."""

    def __init__(cls, name, bases, names):
        super().__init__(name, bases, names)
        type.__setattr__(cls, "_is_fixed", True)

    def __setattr__(cls, name, value):
        if "_is_fixed" in type.__dict__["__dict__"].__get__(cls):
            raise TypeError(f"cannot set {name!r} attribute of immutable type {cls.__name__!r}")
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        raise TypeError(f"cannot delete {name!r} attribute of immutable type {cls.__name__!r}")
