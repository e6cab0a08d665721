import asyncio
import inspect
import pydoc
import unittest

from cellar_prelude import bridge, tool
from helpers import HelperTest, Provider

READ = {
    "name": "read",
    "description": "Reads a file.\n\nWith line numbers.",
    "schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "default": 5}, "a-b": {}},
        "required": ["path"],
    },
}


class Tool(HelperTest):
    def connect(self, answers, tools=None):
        provider = Provider(answers, tools)
        bridge.connect(provider)
        return provider

    def test_arguments_as_a_dict_and_as_keywords(self):
        provider = self.connect({"read": lambda args: args})
        self.assertEqual(tool.read({"path": "a"}), {"path": "a"})
        self.assertEqual(tool.read({"path": "a"}, limit=1), {"path": "a", "limit": 1})
        self.assertEqual(tool["read"](args=3), {"args": 3})
        self.assertEqual(tool.read(), {})
        self.assertEqual(len(provider.calls), 4)
        self.assertEqual(self.events[0], {"op": "tool", "name": "read", "ok": True})
        with self.assertRaisesRegex(TypeError, "as a dict or as keywords, not as str"):
            tool.read("a")
        with self.assertRaisesRegex(TypeError, "given twice: path"):
            tool.read({"path": 1}, path=2)

    def test_it_can_be_awaited(self):
        self.connect({"read": lambda args: args})
        self.assertEqual(asyncio.run(tool.read.aio(path="a")), {"path": "a"})

    def test_an_error_is_noted_and_raised(self):
        def fail(args):
            raise bridge.BridgeError("no such file")

        self.connect({"read": fail})
        with self.assertRaisesRegex(bridge.BridgeError, "^no such file$"):
            tool.read()
        self.assertEqual(self.events, [{"op": "tool", "name": "read", "ok": False, "error": "no such file"}])

    def test_what_was_announced_is_listed_and_described(self):
        self.connect({}, [READ, {"name": "bare"}])
        self.assertEqual(dir(tool), ["bare", "read"])
        self.assertEqual(repr(tool), "<tool>\n  read: Reads a file.\n  bare")
        self.assertEqual(str(inspect.signature(tool.read)), "(*, path: str, limit: int = 5)")
        self.assertEqual(pydoc.render_doc(tool.read, renderer=pydoc.plaintext),
                         "Python Library Documentation: function read\n\n"
                         "read(*, path: str, limit: int = 5)\n    Reads a file.\n    \n    With line numbers.\n")
        with self.assertRaisesRegex(AttributeError, "no tool 'write'; there are: read, bare"):
            tool.write

    def test_a_provider_without_tools_is_not_taken_for_none(self):
        self.connect({}, [])
        with self.assertRaisesRegex(AttributeError, "no tool 'read'; whoever runs this session offers none"):
            tool.read
        self.assertEqual(repr(tool), "<tool: whoever runs this session offers none>")
        self.connect({})
        self.assertEqual(repr(tool), "<tool: no list of tools was given>")

    def test_schemas_that_python_cannot_say_are_no_trouble(self):
        for schema in (None, 3, {"properties": 3}, {"properties": {"class": {}}}, {"properties": {"a": {"type": []}}}):
            self.connect({"x": lambda args: 1}, [{"name": "x", "schema": schema}])
            self.assertEqual(tool.x(), 1)

    def test_without_a_provider_it_says_how_to_connect_one(self):
        for call in (lambda: tool.read(), lambda: tool["read"]):
            with self.assertRaisesRegex(bridge.NotConnected, "cellar serve.*PI_TOOL_BRIDGE_URL"):
                call()
        self.assertIn("nothing is connected", repr(tool))
        self.assertEqual(dir(tool), [])
        self.assertFalse(hasattr(tool, "_repr_html_"))
        self.assertFalse(hasattr(tool, "read"))


if __name__ == "__main__":
    unittest.main()
