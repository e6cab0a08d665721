import math
import unittest

from cellar_prelude import agent, bridge, budget, llm
from cellar_prelude.models import BudgetExceeded
from cellar_prelude.schema import SchemaError
from helpers import HelperTest, Provider

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


class Models(HelperTest):
    def connect(self, answer=None, **budget):
        self.provider = Provider({"llm": lambda args: answer, "agent": lambda args: answer}, budget=budget)
        bridge.connect(self.provider)

    def test_llm(self):
        self.connect("hello")
        self.assertEqual(llm("hi"), "hello")
        self.assertEqual(llm("hi", "smol", system="be brief"), "hello")
        self.assertEqual(self.provider.calls, [
            ("llm", {"prompt": "hi", "model": "default"}),
            ("llm", {"prompt": "hi", "model": "smol", "system": "be brief"})])
        self.assertEqual(self.events[1], {"op": "llm", "model": "smol", "chars": 2, "state": "done"})

    def test_llm_tiers(self):
        self.connect("x")
        for tier in ("smol", "default", "slow"):
            llm("hi", tier)
        with self.assertRaisesRegex(ValueError, "one of smol, default, slow, not 'gpt'"):
            llm("hi", "gpt")

    def test_a_schema_gives_the_parsed_value(self):
        for answer in ({"n": 1}, '{"n": 1}', '```json\n{"n": 1}\n```', {"text": '{"n": 1}'}):
            self.connect(answer)
            self.assertEqual(llm("hi", schema=SCHEMA), {"n": 1})
            self.assertEqual(agent("hi", schema=SCHEMA), {"n": 1})
        self.assertEqual(self.provider.calls[0][1]["schema"], SCHEMA)

    def test_an_answer_with_a_text_in_it_may_be_the_value_itself(self):
        document = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        for schema in ({"type": "object"}, {"type": "object", "additionalProperties": {"type": "string"}}, document,
                       {"$defs": {"document": document}, "$ref": "#/$defs/document"}, {"anyOf": [document, {"type": "null"}]}):
            for answer in ({"text": "hello", "language": "en"}, {"text": "12", "language": "en"}):
                self.connect(answer)
                self.assertEqual(llm("hi", schema=schema), answer, schema)
        self.connect({"text": '{"n": 1}'})
        self.assertEqual(llm("hi", schema={"properties": {"n": {}}}), {"n": 1})
        with self.assertRaisesRegex(SchemaError, r"\.n must be string, not integer"):
            llm("hi", schema={"properties": {"n": {"type": "string"}}, "required": ["n"]})

    def test_a_string_that_fits_needs_no_quotes(self):
        text = {"type": "string"}
        for schema in ({"enum": ["yes", "no"]}, {"const": "yes"}, {"type": ["string", "null"]}, {"anyOf": [text, {"type": "null"}]},
                       {"$defs": {"text": text}, "$ref": "#/$defs/text"}, {}):
            for answer in ("yes", '"yes"'):
                self.connect(answer)
                self.assertEqual(llm("hi", schema=schema), "yes", schema)
        self.connect("12")
        self.assertEqual(llm("hi", schema={"enum": ["12"]}), "12")
        self.assertEqual(llm("hi", schema={"type": ["string", "integer"]}), 12)
        self.connect("maybe")
        with self.assertRaisesRegex(SchemaError, r"llm\(\): the answer is not JSON: 'maybe'"):
            llm("hi", schema={"enum": ["yes", "no"]})
        with self.assertRaisesRegex(SchemaError, r"llm\(\): the answer is not JSON: 'maybe'"):
            llm("hi", schema={"required": ["n"]})

    def test_an_answer_that_does_not_fit_is_an_error(self):
        self.connect('{"n": "one"}')
        with self.assertRaisesRegex(SchemaError, r"llm\(\): the answer does not fit .*: \.n must be integer, not string"):
            llm("hi", schema=SCHEMA)
        self.connect("sorry")
        with self.assertRaisesRegex(SchemaError, r"agent\(\): the answer is not JSON: 'sorry'"):
            agent("hi", schema=SCHEMA)
        self.assertEqual([event["state"] for event in self.events if event["op"] == "agent"], ["started", "failed"])

    def test_agent(self):
        self.connect("done")
        self.assertEqual(agent("look\nat this"), "done")
        self.assertEqual(agent("p", agentType="explore", model="m", context="c", label="l"), "done")
        self.assertEqual(self.provider.calls, [
            ("agent", {"prompt": "look\nat this", "agent_type": "task"}),
            ("agent", {"prompt": "p", "agent_type": "explore", "model": "m", "context": "c", "label": "l"})])
        self.assertEqual(self.events[:2], [
            {"op": "agent", "agent_type": "task", "label": "look", "state": "started"},
            {"op": "agent", "agent_type": "task", "label": "look", "state": "done"}])

    def test_bad_arguments(self):
        self.connect("x")
        for call, error in [
            (lambda: llm(3), "prompt must be a string, not int"),
            (lambda: llm(" "), "prompt is empty"),
            (lambda: llm("p", schema="object"), "schema must be a dict"),
            (lambda: llm("p", schema={"type": "objekt"}), "llm.*no JSON Schema: .type must be one of null, .*, not 'objekt'"),
            (lambda: agent("p", "a", agentType="b"), "given two values"),
            (lambda: agent("p", label=3), "label must be a string"),
        ]:
            with self.subTest(error), self.assertRaisesRegex((TypeError, ValueError), error):
                call()
        self.assertEqual(self.provider.calls, [])

    def test_a_hard_ceiling_refuses_before_calling(self):
        self.connect("x", total=100, spent=100, hard=True)
        with self.assertRaisesRegex(BudgetExceeded, "budget of 100 tokens is spent"):
            agent("p")
        self.assertEqual(self.provider.calls, [])
        self.connect("x", total=100, spent=100, hard=False)
        self.assertEqual(agent("p"), "x")
        self.connect("x", total=100, spent=99, hard=True)
        self.assertEqual(agent("p"), "x")

    def test_budget(self):
        self.connect("x", total=100, spent=120, hard=True)
        self.assertEqual((budget.total, budget.spent(), budget.remaining(), budget.hard), (100, 120, 0, True))
        self.connect("x", total=None, spent=7, hard=False)
        self.assertEqual((budget.total, budget.spent(), budget.remaining(), budget.hard), (None, 7, math.inf, False))
        self.assertEqual(repr(budget), "<budget: 7 spent, no ceiling>")
        bridge.connect(None)
        self.assertEqual((budget.total, budget.spent(), budget.remaining()), (None, 0, math.inf))

    def test_without_a_provider_it_says_how_to_connect_one(self):
        for helper in (llm, agent):
            with self.assertRaisesRegex(bridge.NotConnected, "connect one"):
                helper("p")


if __name__ == "__main__":
    unittest.main()
