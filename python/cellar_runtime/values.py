"""Values that cross between a session and its host: JSON or bytes. A tuple becomes a list and every key text; where more
would be lost, that is an error."""
__builtins__ = __import__("builtins").__dict__.copy()

from _json import make_scanner
from math import inf, nan
from types import SimpleNamespace

from cellar_runtime import late_import

_BLANKS = " \t\n\r"
# What json.loads runs in the end; as in safe_json, the package around it is not needed.
_scan = make_scanner(SimpleNamespace(
    strict=True, object_hook=None, object_pairs_hook=None, parse_float=float, parse_int=int,
    parse_constant={"NaN": nan, "Infinity": inf, "-Infinity": -inf}.__getitem__))


def decode(is_json: bool, data: bytes) -> object:
    """The value that the host sent."""
    if not is_json:
        return data
    text = data.decode("utf-8", "surrogatepass").strip(_BLANKS)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("there is no JSON") from None
    if end != len(text):
        raise ValueError(f"there is more than one JSON value, from character {end} on")
    return value


def encode(value: object) -> tuple[bool, bytes]:
    """(is_json, data). Raises when JSON cannot hold the value."""
    if isinstance(value, (bytes, bytearray)):
        return False, bytes(value)
    dumps = late_import.load("json").dumps
    text = dumps(value, allow_nan=False, ensure_ascii=False)
    _refuse_twins(value, dumps)
    return True, text.encode("utf-8")


def _refuse_twins(value, dumps):
    """Keys of one dict that are the same as text, like 1 and "1"."""
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, (list, tuple)):
            pending.extend(each)
        elif isinstance(each, dict):
            pending.extend(each.values())
            texts = {key if isinstance(key, str) else dumps(key) for key in each}
            if len(texts) < len(each):
                raise ValueError("keys of a dict are the same as text")
