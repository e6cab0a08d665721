import unittest

from cellar_prelude.schema import find_problem
from cellar_prelude.schema_form import find_flaw


class Schema(unittest.TestCase):
    def check(self, schema, fits=(), wrong=()):
        for value in fits:
            self.assertIsNone(find_problem(value, schema), (value, schema))
        for value, problem in wrong:
            self.assertEqual(find_problem(value, schema), problem, (value, schema))

    def test_types(self):
        self.check({"type": "integer"}, [1, -3, 2.0], [(True, "the value must be integer, not boolean"),
                                                       (1.5, "the value must be integer, not number")])
        self.check({"type": "number"}, [1, 1.5], [("1", "the value must be number, not string")])
        self.check({"type": ["string", "null"]}, ["", None], [([], "the value must be string or null, not array")])
        self.check({"type": "boolean"}, [True], [(0, "the value must be boolean, not integer")])

    def test_objects(self):
        schema = {"properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": False}
        self.check(schema, [{"a": 1}], [({}, "the value has no 'a'"),
                                        ({"a": 1, "b": 2}, "the value has 'b', which the schema does not allow"),
                                        ({"a": "x"}, ".a must be integer, not string")])
        self.check({"additionalProperties": {"type": "string"}}, [{"x": "y"}], [({"x": 1}, ".x must be string, not integer")])

    def test_names_by_pattern(self):
        schema = {"properties": {"x_a": {"minimum": 1}}, "patternProperties": {"^x_": {"type": "integer"}},
                  "additionalProperties": False}
        self.check(schema, [{"x_a": 1, "x_b": 0}],
                   [({"x_b": "s"}, ".x_b must be integer, not string"), ({"x_a": 0}, ".x_a must be at least 1, not 0"),
                    ({"x_a": 1.5}, ".x_a must be integer, not number"),
                    ({"y": 1}, "the value has 'y', which the schema does not allow")])

    def test_arrays(self):
        self.check({"items": {"properties": {"n": {"minimum": 3}}}, "minItems": 1, "maxItems": 2}, [[{"n": 3}]],
                   [([], "the value has 0 items, fewer than 1"), ([1, 2, 3], "the value has 3 items, more than 2"),
                    ([{}, {"n": 2}], "[1].n must be at least 3, not 2")])

    def test_choices(self):
        self.check({"enum": ["a", 1]}, ["a", 1], [(True, 'the value must be one of "a", 1, not true')])
        self.check({"const": None}, [None], [(0, "the value must be null, not 0")])
        self.check({"anyOf": [{"type": "string"}, {"minimum": 5}]}, ["x", 6],
                   [(1, "the value does not fit anyOf: the value must be string, not integer; the value must be at least 5, not 1")])
        self.check({"oneOf": [{"type": "integer"}, {"minimum": 5}]}, [1, 5.5], [(6, "the value does not fit oneOf: 2 fit")])
        self.check({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1], [(3, "the value must be at most 2, not 3")])

    def test_bounds(self):
        self.check({"exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5],
                   [(0, "the value must be more than 0, not 0"), (1, "the value must be less than 1, not 1")])
        self.check({"pattern": "^a+$", "minLength": 2, "maxLength": 3}, ["aa"],
                   [("a", "the value has 1 characters, fewer than 2"), ("aaaa", "the value has 4 characters, more than 3"),
                    ("ab", "the value must match '^a+$', and is \"ab\"")])

    def test_references(self):
        schema = {"$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}},
                  "$ref": "#/$defs/node"}
        self.check(schema, [{"next": {"next": {"n": 1}}}], [({"next": {"n": "x"}}, ".next.n must be integer, not string")])
        self.assertIn("deeper than", find_problem(1, {"$ref": "#"}))

    def test_unknown_words_and_booleans(self):
        self.check({"format": "date", "title": 3}, [1, {}])
        self.check({"properties": {"a": True, "b": False}}, [{"a": 1}], [({"b": 1}, ".b must not be there")])


class Form(unittest.TestCase):
    def test_what_is_no_schema_is_said_with_its_place(self):
        for schema, flaw in [
            ({"type": "text"}, ".type must be one of null, boolean, integer, number, string, array, object, not 'text'"),
            ({"properties": [1]}, ".properties must be an object with a schema for each name, not [1]"),
            ({"properties": {"a": {"items": {"enum": 5}}}}, ".properties.a.items.enum must be a list, not 5"),
            ({"anyOf": {"type": "null"}}, ".anyOf must be a list of schemas, not {'type': 'null'}"),
            ({"allOf": [True, 3]}, ".allOf[1] must be an object, not 3"),
            ({"required": "a"}, ".required must be a list of names, not 'a'"),
            ({"minItems": "2"}, ".minItems must be a number, not '2'"),
            ({"maximum": None}, ".maximum must be a number, not None"),
            ({"pattern": "("}, ".pattern must be a regular expression, not '('"),
            ({"$ref": "#/none"}, ".$ref must be a place within the schema, not '#/none'"),
            ({"patternProperties": {"(": {}}}, ".patternProperties must have regular expressions for names, not '('"),
            ({"$ref": "http://x"}, ".$ref must be a place within the schema, not 'http://x'"),
        ]:
            self.assertEqual(find_flaw(schema), flaw)
        endless = {}
        endless["items"] = endless
        self.assertEqual(find_flaw(endless), "it is nested deeper than 100 levels")

    def test_what_old_drafts_allow_is_none_of_its_business(self):
        for schema in ({}, {"items": [{}]}, {"exclusiveMinimum": True}, {"type": ["string", "null"]}, {"x": 3},
                       {"definitions": {"a": {}}, "$ref": "#/definitions/a"}):
            self.assertIsNone(find_flaw(schema), schema)


if __name__ == "__main__":
    unittest.main()
