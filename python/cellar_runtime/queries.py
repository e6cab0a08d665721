"""The questions of prompts and editors, answered as JSON."""
__builtins__ = __import__("builtins").__dict__.copy()

from cellar_runtime import completeness, completion, inspection, safe_json


def answer(names: dict, question: str, text: str, cursor: int, with_source: bool) -> bytes:
    """`question` is complete, inspect or is_complete."""
    if question == "complete":
        found = completion.complete(names, text, cursor)
    elif question == "inspect":
        found = inspection.inspect_at(names, text, cursor, with_source)
    else:
        found = completeness.is_complete(text)
    return safe_json.dumps(found)
