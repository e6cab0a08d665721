"""JSON for the wire: any Python value in, UTF-8 that a strict parser accepts out.

What JSON cannot say becomes text: NaN and infinities by name, bytes as base64, integers of more
than 64 bits in digits; circular, too deep or too many values as placeholders; any other object by
its repr.
"""

__builtins__ = __import__("builtins").__dict__.copy()

from _json import encode_basestring, make_encoder
from binascii import b2a_base64
from collections.abc import Mapping, Sequence, Set
from itertools import chain, islice
from math import isfinite, isnan

from cellar_runtime import late_import, untrusted

MAX_DEPTH = 100
MAX_NODES = 1_000_000
MAX_REPR_CHARS = 64 * 1024
INT_LIMIT = 2**63

CIRCULAR = "<circular reference>"
TOO_DEEP = f"<nested deeper than {MAX_DEPTH} levels>"
TOO_MANY = f"<left out: more than {MAX_NODES} values>"
UNENCODABLE = b'"<value could not be encoded>"'

_NoneType = type(None)
_PLAIN_TYPES = frozenset((str, int, float, bool, _NoneType, list, tuple, dict))


def dumps(value: object) -> bytes:
    """value as JSON in UTF-8. Raises nothing but what interrupts a cell (KeyboardInterrupt...)."""
    try:
        if _is_plain(value):
            return _encode(value)
    except untrusted.FAILURES:
        pass  # NaN, a lone surrogate, a container changed by another thread: the slow way copes
    try:
        return _encode(_Cleaner().clean(value))
    except untrusted.FAILURES:
        return UNENCODABLE


def _refuse(value: object) -> None:
    raise TypeError


# What json.dumps runs in the end. The json package around it takes time to import, and stops
# working when a cell empties builtins. Arguments: markers, default, encoder, indent, separators,
# sort_keys, skipkeys, allow_nan.
_chunks_of = make_encoder(None, _refuse, encode_basestring, None, ":", ",", False, False, False)


def _encode(value: object) -> bytes:
    """Fails on NaN, lone surrogates and all types but the exact ones of JSON."""
    return "".join(_chunks_of(value, 0)).encode()


def _is_plain(value: object) -> bool:
    """Whether json may have value as it is: exact built-in types, all within the limits.

    Walks level by level, so that nearly all the work is done by C loops. NaN and surrogates are
    left to the encoder, which refuses them.
    """
    level, nodes = [value], 0
    for _ in range(MAX_DEPTH):
        nodes += len(level)
        types = set(map(type, level))
        if nodes > MAX_NODES or not types <= _PLAIN_TYPES:
            return False
        if int in types and not all(-INT_LIMIT < n < INT_LIMIT for n in level if type(n) is int):
            return False
        dicts = [node for node in level if type(node) is dict] if dict in types else []
        if not set(map(type, chain.from_iterable(dicts))) <= {str}:
            return False  # 1 and "1" would be one key
        lists = [node for node in level if type(node) is list or type(node) is tuple]
        children = chain(chain.from_iterable(lists), chain.from_iterable(d.values() for d in dicts))
        level = list(islice(children, MAX_NODES + 1))
        if not level:
            return True
    return False


class _Cleaner:
    """Copies one value into exact built-in types that json encodes without fail."""

    def __init__(self):
        self._nodes = 0
        self._open = set()  # ids of the containers being walked
        self._converters = {}  # (class, converter) by the class's id, since finding one is slow

    def clean(self, value: object, depth: int = 0) -> object:
        self._nodes += 1
        if depth >= MAX_DEPTH:
            return TOO_DEEP
        if id(value) in self._open:
            return CIRCULAR
        try:
            return self._convert(value, type(value), depth)
        except untrusted.FAILURES:
            return _repr(value)

    def _convert(self, value: object, cls: type, depth: int) -> object:
        if value is None or cls is bool:
            return value
        if issubclass(cls, str):
            return untrusted.valid_text(str.__str__(value))
        if id(cls) not in self._converters:
            self._converters[id(cls)] = cls, _converter_for(cls)
        converter = self._converters[id(cls)][1]
        if converter is not None:
            return self._within(value, lambda: self.clean(converter(value), depth + 1))
        if issubclass(cls, int):
            return _integer(int.__index__(value))
        if issubclass(cls, float):
            return _float(float.__float__(value))
        if issubclass(cls, (bytes, bytearray, memoryview)):
            return b2a_base64(value, newline=False).decode()
        # The abstract types come last: their hooks are Python code that emptied builtins break.
        if issubclass(cls, (list, tuple, set, frozenset)):
            return self._within(value, lambda: self._sequence(value, depth))
        if issubclass(cls, (dict, Mapping)):
            return self._within(value, lambda: self._mapping(value.items(), depth))
        if issubclass(cls, (Sequence, Set)):
            return self._within(value, lambda: self._sequence(value, depth))
        if hasattr(cls, "__dataclass_fields__"):
            return self._within(value, lambda: self._mapping(_fields(value), depth))
        return _repr(value)

    def _within(self, value: object, walk) -> object:
        self._open.add(id(value))
        try:
            return walk()
        finally:
            self._open.discard(id(value))

    def _mapping(self, items, depth: int) -> dict:
        result = {}
        for key, value in items:
            if self._nodes >= MAX_NODES:
                result["..."] = TOO_MANY
                break
            result[_key(key)] = self.clean(value, depth + 1)
        return result

    def _sequence(self, values, depth: int) -> list:
        result = []
        for value in values:
            if self._nodes >= MAX_NODES:
                result.append(TOO_MANY)
                break
            result.append(self.clean(value, depth + 1))
        return result


def _repr(value: object) -> str:
    return untrusted.valid_text(untrusted.cut_end(untrusted.safe_repr(value), MAX_REPR_CHARS))


def _key(key: object) -> str:
    """The key as json would write it, extended to keys json refuses."""
    if key is None or type(key) is bool:
        return {None: "null", True: "true", False: "false"}[key]
    if type(key) is float:
        return str(_float(key))
    return untrusted.valid_text(untrusted.cut_end(untrusted.safe_str(key), MAX_REPR_CHARS))


def _integer(number: int) -> int | str:
    if -INT_LIMIT < number < INT_LIMIT:
        return number
    try:
        return str(number)
    except ValueError:  # more digits than sys.get_int_max_str_digits() allows
        return hex(number)


def _float(number: float) -> float | str:
    if isfinite(number):
        return number
    if isnan(number):
        return "NaN"
    return "Infinity" if number > 0 else "-Infinity"


def _fields(value: object) -> list[tuple[str, object]]:
    fields = late_import.load("dataclasses").fields(value)
    return [(field.name, getattr(value, field.name)) for field in fields]


def _array(array: object) -> object:
    if array.size > MAX_NODES:
        return untrusted.safe_repr(array)
    return (array.astype(str) if array.dtype.kind in "mM" else array).tolist()


def _array_scalar(scalar: object) -> object:
    if scalar.dtype.kind in "mM":
        return str(scalar)
    item = scalar.item()
    return str(item) if type(item) is type(scalar) else item  # a long double is its own item


# By name, so that none of these modules is imported for a cell that does not use it.
_CONVERTERS = {
    "datetime.date": lambda value: value.isoformat(),
    "datetime.time": lambda value: value.isoformat(),
    "datetime.timedelta": str,
    "decimal.Decimal": str,
    "enum.Enum": lambda value: value.value,
    "fractions.Fraction": str,
    "numpy.generic": _array_scalar,
    "numpy.ndarray": _array,
    "pathlib.PurePath": str,
    "uuid.UUID": str,
}


def _converter_for(cls: type):
    for name in untrusted.qualified_names(cls):
        if name in _CONVERTERS:
            return _CONVERTERS[name]
    return None
