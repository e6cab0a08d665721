"""JSON Schemas checked themselves, before an answer is asked for that none could fit."""
__builtins__ = __import__("builtins").__dict__.copy()

import re

_MAX_DEPTH = 100
_TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
_SCHEMAS = ("items", "additionalProperties")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf")
_DICTS_OF_SCHEMAS = ("properties", "patternProperties", "$defs", "definitions")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength")
_LIMITS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def find_flaw(schema) -> str | None:
    """The first thing that is wrong with a schema, with its place; None when it is one. Unknown words are passed over."""
    return _flaw(schema, schema, "", 0)


def resolve(root, reference):
    """What a `$ref` within the schema refers to; None when that is not there."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    target = root
    for part in reference[1:].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        target = target.get(part) if isinstance(target, dict) else None
    return target


def _flaw(root, schema, place, depth):
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return f"{place} must be an object, not {schema!r:.100}"
    if depth > _MAX_DEPTH:
        return f"it is nested deeper than {_MAX_DEPTH} levels"
    return _flaw_of_words(root, schema, place) or _flaw_within(root, schema, place, depth)


def _flaw_of_words(root, schema, place):
    def must(word, what):
        return f"{place}.{word} must be {what}, not {schema[word]!r:.100}"

    kinds = schema.get("type", [])
    if not all(kind in _TYPES for kind in (kinds if isinstance(kinds, list) else [kinds])):
        return must("type", f"one of {', '.join(_TYPES)}")
    if not isinstance(schema.get("enum", []), list):
        return must("enum", "a list")
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return must("required", "a list of names")
    for word in (*_COUNTS, *_LIMITS):
        limit = schema.get(word, 0)
        # In the fourth draft exclusive limits were booleans.
        if not isinstance(limit, (int, float)) or isinstance(limit, bool) and not word.startswith("exclusive"):
            return must(word, "a number")
    if "pattern" in schema and not _is_pattern(schema["pattern"]):
        return must("pattern", "a regular expression")
    if "$ref" in schema and resolve(root, schema["$ref"]) is None:
        return must("$ref", "a place within the schema")
    return None


def _is_pattern(text):
    try:
        return isinstance(text, str) and re.compile(text) is not None
    except (re.error, RecursionError, OverflowError):
        return False


def _flaw_within(root, schema, place, depth):
    # Old drafts have lists of items too, which are passed over.
    inner = [(f".{word}", schema[word]) for word in _SCHEMAS if word in schema and not isinstance(schema[word], list)]
    for word in _LISTS_OF_SCHEMAS:
        parts = schema.get(word, [])
        if not isinstance(parts, list):
            return f"{place}.{word} must be a list of schemas, not {parts!r:.100}"
        inner += [(f".{word}[{index}]", part) for index, part in enumerate(parts)]
    for word in _DICTS_OF_SCHEMAS:
        parts = schema.get(word, {})
        if not isinstance(parts, dict):
            return f"{place}.{word} must be an object with a schema for each name, not {parts!r:.100}"
        inner += [(f".{word}.{name}", part) for name, part in parts.items()]
    for pattern in schema.get("patternProperties", {}):
        if not _is_pattern(pattern):
            return f"{place}.patternProperties must have regular expressions for names, not {pattern!r:.100}"
    for step, part in inner:
        flaw = _flaw(root, part, place + step, depth + 1)
        if flaw:
            return flaw
    return None
