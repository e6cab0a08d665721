import asyncio
import base64
import io
import unittest
import unittest.mock

from cellar_runtime import mime, pretty

try:
    import pandas
except ImportError:
    pandas = None
try:
    import PIL.Image
except ImportError:
    PIL = None

PNG = b"\x89PNG\r\n\x1a\n"


def object_with(**methods):
    """An object whose methods give these values, or raise them where they are exceptions."""

    def method(value):
        def give(self, **options):
            if isinstance(value, BaseException):
                raise value
            return value

        return give

    namespace = {f"_repr_{name}_": method(value) for name, value in methods.items()}
    return type("Rich", (), {"__repr__": lambda self: "<rich>", **namespace})()


def data_of(obj, **options):
    return mime.bundle_of(obj, **options)[0]


class Bundles(unittest.TestCase):
    def test_plain_values_have_only_text(self):
        self.assertEqual(mime.bundle_of([1, "a"]), ({"text/plain": "[1, 'a']"}, {}))
        self.assertEqual(mime.bundle_of(None), ({"text/plain": "None"}, {}))

    def test_every_method_gives_its_type(self):
        rich = object_with(
            html="<b>", markdown="**", svg="<svg/>", png=PNG, jpeg=b"\xff\xd8", json={"a": 1},
            latex="$x$", javascript="f()", pdf=b"%PDF",
        )  # fmt: skip
        self.assertEqual(
            data_of(rich),
            {
                "text/html": "<b>", "text/markdown": "**", "image/svg+xml": "<svg/>",
                "image/png": PNG, "image/jpeg": b"\xff\xd8", "application/json": {"a": 1},
                "text/latex": "$x$", "application/javascript": "f()", "application/pdf": b"%PDF",
                "text/plain": "<rich>",
            },
        )  # fmt: skip

    def test_the_mimebundle_comes_first_and_methods_fill_in(self):
        rich = object_with(
            mimebundle=({"text/html": "first", "text/plain": "own"}, {"text/html": {"k": 1}}),
            html="second",
            latex="$x$",
        )
        data, metadata = mime.bundle_of(rich)
        self.assertEqual(data, {"text/html": "first", "text/plain": "own", "text/latex": "$x$"})
        self.assertEqual(metadata, {"text/html": {"k": 1}})

    def test_a_mimebundle_method_without_parameters_works(self):
        class Simple:
            def _repr_mimebundle_(self):
                return {"text/html": "<i>"}

        self.assertEqual(data_of(Simple())["text/html"], "<i>")

    def test_a_mimebundle_method_that_fails_or_declines_is_called_once(self):
        class Rich:
            calls = 0

            def _repr_mimebundle_(self, include=None, exclude=None):
                self.calls += 1
                return self.answer()

        for answer in (lambda: None, lambda: 1 / 0, lambda: len(5)):
            rich = Rich()
            rich.answer = answer
            self.assertEqual(list(data_of(rich)), ["text/plain"])
            self.assertEqual(rich.calls, 1)

    def test_methods_may_give_metadata(self):
        data, metadata = mime.bundle_of(object_with(png=(PNG, {"width": 5}), html=("<b>", None)))
        self.assertEqual(data, {"text/html": "<b>", "image/png": PNG, "text/plain": "<rich>"})
        self.assertEqual(metadata, {"image/png": {"width": 5}})

    def test_failing_and_declining_methods_are_skipped(self):
        rich = object_with(
            mimebundle=ValueError(), html=SystemExit(), markdown=None, json=RecursionError()
        )
        self.assertEqual(data_of(rich), {"text/plain": "<rich>"})
        self.assertEqual(data_of(object_with(mimebundle=5)), {"text/plain": "<rich>"})

    def test_interrupts_pass_through_a_method(self):
        for error in (KeyboardInterrupt(), asyncio.CancelledError()):
            with self.assertRaises(type(error)):
                mime.bundle_of(object_with(html=error))

    def test_a_class_is_not_asked_for_its_instances_methods(self):
        cls = type(object_with(html="<b>"))
        self.assertEqual(data_of(cls), {"text/plain": repr(cls)})

    def test_an_object_that_answers_to_every_name_is_not_asked(self):
        self.assertEqual(list(data_of(unittest.mock.MagicMock())), ["text/plain"])

        class Refusing:
            def __getattr__(self, name):
                raise KeyError(name)

        self.assertEqual(list(data_of(Refusing())), ["text/plain"])

    def test_include_and_exclude(self):
        rich = object_with(html="<b>", latex="$")
        self.assertEqual(data_of(rich, include=["text/html"]), {"text/html": "<b>"})
        self.assertEqual(
            data_of(rich, exclude=["text/html"]), {"text/latex": "$", "text/plain": "<rich>"}
        )

    def test_an_unprintable_object_is_named(self):
        class Foo:
            def __repr__(self):
                raise ValueError

        expected = "<unprintable Foo object: ValueError in __repr__>"
        self.assertEqual(data_of(Foo()), {"text/plain": expected})

    def test_a_hostile_metaclass_does_not_matter(self):
        class Meta(type):
            __hash__ = None

            def __eq__(cls, other):
                raise ValueError

        class Foo(metaclass=Meta):
            def __repr__(self):
                return "foo"

        self.assertEqual(data_of(Foo()), {"text/plain": "foo"})

    def test_plain_gives_json_and_text(self):
        self.assertEqual(
            mime.plain({"a": 1}), ({"text/plain": "{'a': 1}", "application/json": {"a": 1}}, {})
        )

    def test_huge_text_is_cut(self):
        text = data_of("x" * pretty.MAX_CHARS)["text/plain"]
        self.assertTrue(text.endswith("xx... [2 more characters]"))


class WireValues(unittest.TestCase):
    def test_images_may_be_base64(self):
        encoded = base64.encodebytes(PNG).decode()
        self.assertEqual(data_of(object_with(png=encoded))["image/png"], PNG)
        self.assertEqual(data_of(object_with(png=bytearray(PNG)))["image/png"], PNG)
        self.assertNotIn("image/png", data_of(object_with(png="no base64!")))

    def test_text_may_be_bytes(self):
        self.assertEqual(data_of(object_with(svg=b"<svg\xff/>"))["image/svg+xml"], "<svg\ufffd/>")

    def test_type_names_are_valid_text(self):
        self.assertEqual(mime.clean_bundle({"x/\ud800": "a", 5: "b"}), {"x/\ufffd": "a", "5": "b"})

    def test_encoding_by_kind(self):
        self.assertEqual(mime.encode("text/plain", "é\ud800"), ("text", "é\ufffd".encode()))
        self.assertEqual(mime.encode("image/png", PNG), ("bytes", PNG))
        self.assertEqual(mime.encode("application/json", "text"), ("json", b'"text"'))
        self.assertEqual(mime.encode("application/x+json", [float("nan")]), ("json", b'["NaN"]'))
        self.assertEqual(mime.encode("x/other", {"a": 1}), ("json", b'{"a":1}'))


class Libraries(unittest.TestCase):
    @unittest.skipIf(pandas is None, "pandas is not installed")
    def test_a_data_frame_has_html_and_text(self):
        data = data_of(pandas.DataFrame({"a": [1]}))
        self.assertEqual(sorted(data), ["text/html", "text/plain"])
        self.assertEqual(data["text/plain"], "   a\n0  1")

    @unittest.skipIf(PIL is None, "PIL is not installed")
    def test_pil_images_of_any_mode_are_png(self):
        for mode in ("RGB", "L", "CMYK", "F"):
            data = data_of(PIL.Image.new(mode, (2, 3)))
            self.assertEqual(PIL.Image.open(io.BytesIO(data["image/png"])).size, (2, 3))

    def test_a_registered_formatter_fills_what_the_methods_left(self):
        rich = object_with(html="<b>")
        name = f"{type(rich).__module__}.Rich"
        self.addCleanup(mime._formatters.pop, name)
        mime.register_formatter(name, lambda obj: {"text/html": "no", "text/latex": "$"})
        self.assertEqual(
            data_of(rich), {"text/html": "<b>", "text/latex": "$", "text/plain": "<rich>"}
        )
        mime.register_formatter(name, lambda obj: 1 / 0)
        self.assertEqual(data_of(rich), {"text/html": "<b>", "text/plain": "<rich>"})

    def test_a_formatter_is_not_asked_for_what_is_there(self):
        rich = object_with(png=b"own")
        name = f"{type(rich).__module__}.Rich"
        self.addCleanup(mime._formatters.pop, name)
        asked = []
        mime.register_formatter(name, asked.append, only="image/png")
        self.assertEqual(data_of(rich), {"image/png": b"own", "text/plain": "<rich>"})
        self.assertEqual(asked, [])


if __name__ == "__main__":
    unittest.main()
