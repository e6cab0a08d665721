"""Values checked against a JSON Schema: the part of it that people use to describe an answer.

Known: type, enum, const, anyOf, oneOf, allOf, properties, patternProperties, required, additionalProperties, items,
minItems, maxItems, minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, pattern, $ref within the
schema. Other words are passed over.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import json
import re

from cellar_prelude.schema_form import resolve

_MAX_DEPTH = 100
_WORDS_OF_CONTAINERS = ("properties", "patternProperties", "required", "additionalProperties", "items", "minItems",
                        "maxItems")
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)


class SchemaError(ValueError):
    """An answer does not fit the schema it was asked for."""


def parse(helper: str, value, schema: dict):
    """The value of an answer, which may come as JSON text, or as an object with that text, once it has passed the check."""
    if isinstance(value, dict) and isinstance(value.get("text"), str) and "text" not in schema.get("properties", {}):
        try:
            return _checked(helper, value["text"], schema)
        except SchemaError:
            if find_problem(value, schema):
                raise  # or the object is the answer itself
    return _checked(helper, value, schema)


def _checked(helper, value, schema):
    if isinstance(value, str) and schema.get("type") != "string":
        value = _parsed(helper, value, schema)
    problem = find_problem(value, schema)
    if problem:
        raise SchemaError(f"{helper}(): the answer does not fit the schema: {problem}")
    return value


def _parsed(helper, text, schema):
    """What the text is as JSON. A string that fits needs no quotes."""
    # Where an object or a list is described and its type forgotten, any string would fit.
    fits = not any(word in schema for word in _WORDS_OF_CONTAINERS) and find_problem(text, schema) is None
    fenced = _FENCE.match(text)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except ValueError:
        if fits:
            return text
        raise SchemaError(f"{helper}(): the answer is not JSON: {text!r:.200}") from None
    return text if fits and find_problem(value, schema) else value


def find_problem(value, schema) -> str | None:
    """The first thing wrong with value, with its place; None when it fits."""
    return _Check(schema).problem(value, schema, "the value", 0)


class _Check:
    def __init__(self, root):
        self._root = root

    def problem(self, value, schema, place, depth):
        if schema is True or not isinstance(schema, (dict, bool)):
            return None
        if schema is False:
            return f"{place} must not be there"
        if depth > _MAX_DEPTH:
            return f"{place} is nested deeper than {_MAX_DEPTH} levels"
        if "$ref" in schema:
            return self.problem(value, resolve(self._root, schema["$ref"]), place, depth + 1)
        for check in (self._kind, self._choice, self._alternatives, self._object, self._array, _bounds):
            found = check(value, schema, place, depth)
            if found:
                return found
        return None

    def _kind(self, value, schema, place, depth):
        expected = schema.get("type")
        if expected is None:
            return None
        kinds = expected if isinstance(expected, list) else [expected]
        if any(_is_of(value, kind) for kind in kinds):
            return None
        return f"{place} must be {' or '.join(map(str, kinds))}, not {_name_of(value)}"

    def _choice(self, value, schema, place, depth):
        if "const" in schema and not _same(value, schema["const"]):
            return f"{place} must be {json.dumps(schema['const'])}, not {_shown(value)}"
        choices = schema.get("enum")
        if isinstance(choices, list) and not any(_same(value, choice) for choice in choices):
            return f"{place} must be one of {', '.join(map(json.dumps, choices))}, not {_shown(value)}"
        return None

    def _alternatives(self, value, schema, place, depth):
        for part in schema.get("allOf") or ():
            found = self.problem(value, part, place, depth + 1)
            if found:
                return found
        for word, fits in (("anyOf", lambda count: count > 0), ("oneOf", lambda count: count == 1)):
            if not schema.get(word):
                continue
            problems = [self.problem(value, part, place, depth + 1) for part in schema[word]]
            count = problems.count(None)
            if not fits(count):
                why = "; ".join(filter(None, problems)) if count == 0 else f"{count} fit"
                return f"{place} does not fit {word}: {why}"
        return None

    def _object(self, value, schema, place, depth):
        if not isinstance(value, dict):
            return None
        properties, patterns = schema.get("properties") or {}, schema.get("patternProperties") or {}
        others = schema.get("additionalProperties", True)
        for name in schema.get("required") or ():
            if name not in value:
                return f"{place} has no {name!r}"
        for name, item in value.items():
            known = [properties[name]] if name in properties else []
            known += [inner for pattern, inner in patterns.items() if re.search(pattern, name)]
            if not known and others is False:
                return f"{place} has {name!r}, which the schema does not allow"
            for inner in known or [others]:
                found = self.problem(item, inner, _below(place, f".{name}"), depth + 1)
                if found:
                    return found
        return None

    def _array(self, value, schema, place, depth):
        if not isinstance(value, list):
            return None
        if len(value) < schema.get("minItems", 0):
            return f"{place} has {len(value)} items, fewer than {schema['minItems']}"
        if len(value) > schema.get("maxItems", len(value)):
            return f"{place} has {len(value)} items, more than {schema['maxItems']}"
        for index, item in enumerate(value):
            found = self.problem(item, schema.get("items", True), _below(place, f"[{index}]"), depth + 1)
            if found:
                return found
        return None


def _bounds(value, schema, place, depth):
    if isinstance(value, str):
        if len(value) < schema.get("minLength", 0):
            return f"{place} has {len(value)} characters, fewer than {schema['minLength']}"
        if len(value) > schema.get("maxLength", len(value)):
            return f"{place} has {len(value)} characters, more than {schema['maxLength']}"
        if "pattern" in schema and not re.search(schema["pattern"], value):
            return f"{place} must match {schema['pattern']!r}, and is {_shown(value)}"
    elif _is_of(value, "number"):
        for word, is_wrong, words in (
                ("minimum", lambda limit: value < limit, "at least"),
                ("maximum", lambda limit: value > limit, "at most"),
                ("exclusiveMinimum", lambda limit: value <= limit, "more than"),
                ("exclusiveMaximum", lambda limit: value >= limit, "less than")):
            if _is_of(schema.get(word), "number") and is_wrong(schema[word]):
                return f"{place} must be {words} {schema[word]}, not {value}"
    return None


def _is_of(value, kind):
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or isinstance(value, float) and value.is_integer()
    kinds = {"null": type(None), "string": str, "number": (int, float), "array": list, "object": dict}
    return kind in kinds and isinstance(value, kinds[kind])


def _name_of(value):
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def _same(a, b):
    # In JSON true is not 1.
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def _shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else text[:100] + "..."


def _below(place, step):
    return step if place == "the value" else place + step
