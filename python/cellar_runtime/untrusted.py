"""How the runtime reads values it does not trust: a cell's objects may lie, fail or be huge.

Nothing here looks an attribute up through an object's own `__getattribute__`, `__class__` or
metaclass, and nothing swallows KeyboardInterrupt or CancelledError: a user's `__repr__` stays
interruptible.
"""

__builtins__ = __import__("builtins").__dict__.copy()

import re
import types

# What a user's method may raise and still only count as "this method failed".
FAILURES = (Exception, SystemExit)

_SURROGATES = re.compile(r"([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")

_read_name = type.__dict__["__name__"].__get__
_read_qualname = type.__dict__["__qualname__"].__get__
_read_module = type.__dict__["__module__"].__get__
mro = type.__dict__["__mro__"].__get__
_function_type, _method_type = types.FunctionType, types.MethodType
_read_code = _function_type.__dict__["__code__"].__get__
_read_function = _method_type.__dict__["__func__"].__get__


def type_name(cls: type) -> str:
    """The class's own name, whatever its metaclass says."""
    return valid_text(_read_name(cls))


def qualified_name(cls: type) -> str:
    """`module.Outer.Name`, or `Outer.Name` where the class has no usable module."""
    name = valid_text(_read_qualname(cls))
    module = module_of(cls)
    return f"{valid_text(module)}.{name}" if module else name


def module_of(cls: type) -> str:
    """The name of the module that a class is of, empty where it has no usable one."""
    try:
        module = _read_module(cls)
    except AttributeError:
        return ""
    return module if type(module) is str else ""


def qualified_names(cls: type) -> list[str]:
    """The qualified names of the class and its bases, in method resolution order."""
    return [qualified_name(base) for base in mro(cls)]


def is_one_of(cls: type, types: tuple[type, ...]) -> bool:
    """Whether cls is among types, without asking a metaclass for `__eq__` or `__hash__`."""
    return any(cls is each for each in types)


def code_of(function: object) -> object:
    """The code that a call of it runs, where it is a function of Python, or a method; otherwise None."""
    if type(function) is _method_type:
        function = _read_function(function)
    return _read_code(function) if type(function) is _function_type else None


def safe_repr(obj: object) -> str:
    """repr(obj), or a placeholder that names the failure."""
    return _converted(repr, "__repr__", obj)


def safe_str(obj: object) -> str:
    """str(obj), or a placeholder that names the failure."""
    return _converted(str, "__str__", obj)


def _converted(convert, method: str, obj: object) -> str:
    try:
        # str.__str__ turns a str subclass, whose methods may be hostile, into a plain str.
        return str.__str__(convert(obj))
    except FAILURES as failure:
        name, cause = type_name(type(obj)), type_name(type(failure))
        return f"<unprintable {name} object: {cause} in {method}>"


def describe(error: BaseException) -> str:
    """`Name: text` of an error, as valid text."""
    return f"{type_name(type(error))}: {valid_text(safe_str(error))}"


def valid_text(text: str) -> str:
    """text with surrogate pairs joined and lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        # Not by codecs, whose error handlers a cell may have registered anew.
        return _SURROGATES.sub(_whole_character, text)


def _whole_character(match):
    high, low = match.groups()
    return "\ufffd" if high is None else chr(0x10000 + (ord(high) - 0xD800 << 10) + ord(low) - 0xDC00)


def utf8(text: str) -> bytes:
    """text as UTF-8 that a strict decoder accepts."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return valid_text(text).encode()


def cut_end(text: str, limit: int) -> str:
    """The first `limit` characters of text, with a mark that says how many are left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}... [{len(text) - limit} more characters]"


def cut_middle(text: str, limit: int) -> str:
    """Head and tail of text, `limit` bytes of UTF-8, and a mark between that counts the rest."""
    data = utf8(text)
    if len(data) <= limit:
        return data.decode()
    half = limit // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[-half:].decode("utf-8", "ignore")
    return f"{head}\n[... {len(data) - 2 * half} bytes left out ...]\n{tail}"
