import builtins
import unittest

from cellar_prelude import bridge, tool
from cellar_runtime import cell_sources, inspection
from cellar_runtime.completeness import is_complete
from helpers import HelperTest, Provider

SOURCE = '''class Cart:
    """Holds things."""
    wheels = 4

    def load(self, what, at=object(), *, note: "str" = "x"):
        """Puts one in."""
        return what
'''


class Inspect(HelperTest):
    def setUp(self):
        super().setUp()
        self.names = {"__builtins__": builtins, "__name__": "__main__"}
        cell_sources.register("<cell 901>", SOURCE)
        exec(compile(SOURCE, "<cell 901>", "exec"), self.names)
        exec("cart = Cart()", self.names)

    def at(self, text, cursor=None, with_source=False):
        return inspection.inspect_at(self.names, text, len(text) if cursor is None else cursor, with_source)

    def test_a_method(self):
        facts = self.at("cart.load(1)", 7, True)
        self.assertEqual((facts["name"], facts["type"], facts["signature"], facts["docstring"]),
                         ("cart.load", "method", "load(what, at=..., *, note: 'str' = 'x')", "Puts one in."))
        self.assertTrue(facts["source"].lstrip().startswith("def load(self"))

    def test_a_tool_of_the_host(self):
        self.addCleanup(bridge.connect, None)
        bridge.connect(Provider({}, tools=[{"name": "add", "description": "Adds.",
                                            "schema": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}}]))
        self.names["tool"] = tool
        facts = self.at("tool.add(")
        self.assertEqual((facts["type"], facts["signature"], facts["docstring"]), ("function", "add(*, a: int)", "Adds."))
        bridge.connect(None)
        self.assertEqual(self.at("tool.add("), {"found": False})

    def test_a_class_of_a_cell_has_its_source(self):
        self.assertEqual(self.at("Cart", with_source=True)["source"], SOURCE)

    def test_a_class_of_a_cell_with_magics_has_its_source_too(self):
        source = SOURCE.replace("Cart", "Wagon")
        exec(source, self.names)
        for text in ("!ls\n" + source + "%cd \\\n /\n", "%%time\n" + source, "\n%%capture out\nx = !ls\n" + source):
            with self.subTest(text):
                cell_sources.register("<cell 902>", text)
                self.assertEqual(self.at("Wagon", with_source=True)["source"], source)

    def test_the_docstring_of_a_class_is_its_own_or_that_of_a_base(self):
        exec("class Wagon(Cart): pass\nclass Bare: pass", self.names)
        for name, docstring in (("Cart", "Holds things."), ("Wagon", "Holds things."), ("Bare", "")):
            self.assertEqual(self.at(name)["docstring"], docstring)
        self.assertTrue(self.at("int")["docstring"].startswith("int([x]) -> integer"))
        self.assertTrue(self.at("object")["docstring"].startswith("The base class"))

    def test_values_builtins_and_brackets(self):
        self.assertEqual(self.at("cart.wheels")["value"], "4")
        self.assertEqual(self.at("len")["signature"], "len(obj, /)")
        self.assertEqual(self.at("cart.load(1, [2, (3), ")["name"], "cart.load")
        self.assertEqual(self.at("print(cart.")["name"], "print")
        for text in ("", "nothing", "cart.nothing", "3 + ", "1.5"):
            with self.subTest(text):
                self.assertEqual(self.at(text), {"found": False})

    def test_a_metaclass_is_not_asked(self):
        class Meta(type):
            def __eq__(cls, other):
                raise AssertionError("compared")

            __hash__ = None

        odd = self.names["odd"] = Meta("Odd", (), {"__module__": Meta("Name", (), {})(), "__doc__": "Odd."})()
        self.names["function"] = lambda a: None
        self.names["function"].__defaults__ = (odd,)
        self.names["function"].__annotations__ = {"a": odd}
        self.assertEqual(self.at("odd", with_source=True)["docstring"], "Odd.")
        self.assertEqual(self.at("odd[0]"), {"found": False})
        self.assertEqual(self.at("function")["signature"], "function(a: ... = ...)")

    def test_description(self):
        self.assertEqual(inspection.describe(self.names, "cart", False), "Type:      Cart\nDocstring:\nHolds things.")
        self.assertEqual(inspection.describe(self.names, "cart.wheels", False).splitlines()[:2],
                         ["Type:      int", "Value:     4"])


class IsComplete(unittest.TestCase):
    def check(self, status, indent, *texts):
        for text in texts:
            with self.subTest(text):
                self.assertEqual(is_complete(text), {"status": status, "indent": indent})

    def test_complete(self):
        self.check("complete", "", "", "x = 1", "await f()", "for x in y: pass", "if x:\n    y\n", "!ls", "x = !ls",
                   "%time x", "name?", "%%bash\nls\n\n", "%%bash\n\n", "!echo a [b", "%cd x\ny = 2", "# comment",
                   "  x = 1", "\tx = 1\n\ty\n")

    def test_incomplete(self):
        self.check("incomplete", "    ", "if x:", "def f():", "for x in y:\n    z", "if x:\n    f(1,", "if x:\n    !ls")
        self.check("incomplete", "", "f(", "x = '''a", "x = \\", "!ls \\", "%%bash\nls", "%%bash", "%%bash\n", "@decorator")
        self.check("incomplete", "", "def f():\n    return 1")
        self.check("incomplete", "      ", "  if x:")

    def test_invalid(self):
        self.check("invalid", "", "x = = 1", "'open", ")", "\0", "if x:\ny", "  x = = 1")


if __name__ == "__main__":
    unittest.main()
