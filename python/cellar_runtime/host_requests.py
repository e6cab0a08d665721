"""What the host asks of a session beside running cells: to bind a name, to read one, to look at a text. Each request is
answered once."""
__builtins__ = __import__("builtins").__dict__.copy()

import _cellar
from cellar_runtime import late_import, untrusted, values

_ValueKind, _QueryKind = _cellar.ValueKind, _cellar.QueryKind
_JSON, _BYTES, _ABSENT, _FAILED = _ValueKind.JSON, _ValueKind.BYTES, _ValueKind.ABSENT, _ValueKind.FAILED
_QUESTIONS = {_QueryKind.COMPLETE: "complete", _QueryKind.INSPECT: "inspect", _QueryKind.IS_COMPLETE: "is_complete"}
_NO_VALUE = object()


def bind(names: dict, request: int, name: str, is_json: bool, data: bytes) -> None:
    try:
        if not name.isidentifier():
            raise ValueError(f"{name!r} is not a name")
        names[name] = values.decode(is_json, data)
    except Exception as error:
        _fail(request, untrusted.safe_str(error))
    else:
        _cellar.send_value(request, _ABSENT, b"")


def read(names: dict, request: int, name: str) -> None:
    value = names.get(name, _NO_VALUE)
    if value is _NO_VALUE:
        _cellar.send_value(request, _ABSENT, b"")
        return
    try:
        is_json, data = values.encode(value)
    except BaseException as error:  # of the value's own methods
        _fail(request, f"{name} is a {untrusted.type_name(type(value))} that JSON cannot hold: {untrusted.safe_str(error)}")
        return
    try:
        _cellar.send_value(request, _JSON if is_json else _BYTES, data)
    except ValueError as error:
        _fail(request, f"{name} is too large: {error}")


def _fail(request, reason):
    _cellar.send_value(request, _FAILED, reason.encode("utf-8", "backslashreplace"))


def query(names: dict, request: int, kind: int, text: bytes, cursor: int, with_source: bool) -> None:
    try:
        queries = late_import.load("cellar_runtime.queries")
        answer = queries.answer(names, _QUESTIONS[kind], text.decode("utf-8", "replace"), cursor, with_source)
        _cellar.send_query_answer(request, True, answer)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        _cellar.send_query_answer(request, False, reason.encode("utf-8", "backslashreplace"))
