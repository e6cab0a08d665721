"""The questions of prompts and editors, answered as JSON."""
__builtins__ = __import__("builtins").__dict__.copy()

from cellar_runtime import completeness, completion, inspection, safe_json

_COMPLETE, _INSPECT, _IS_COMPLETE = 0, 1, 2  # wire::QueryKind


def answer(names: dict, kind: int, text: str, cursor: int, with_source: bool) -> bytes:
    if kind == _COMPLETE:
        found = completion.complete(names, text, cursor)
    elif kind == _INSPECT:
        found = inspection.inspect_at(names, text, cursor, with_source)
    else:
        found = completeness.is_complete(text)
    return safe_json.dumps(found)
