import unittest
import unittest.mock

from cellar_runtime import display as module
from cellar_runtime.display import DisplayHandle, clear_output, display, update_display


def text(content):
    return ("text/plain", "text", content.encode())


class DisplayTest(unittest.TestCase):
    def setUp(self):
        self.published = []
        module.install(lambda *call: self.published.append(call))
        self.addCleanup(module.install, module._not_installed)

    def tearDown(self):
        self.assertEqual(self.published, [], "output that the test did not expect")

    def expect(self, *calls):
        self.assertEqual(self.published, list(calls))
        self.published.clear()

    def test_each_object_is_one_output(self):
        self.assertIsNone(display(1, "a"))
        self.expect(("display", [text("1")], b"{}", ""), ("display", [text("'a'")], b"{}", ""))

    def test_an_object_that_displays_itself(self):
        class Shy:
            def __init__(self, show):
                self._ipython_display_ = show

            def __repr__(self):
                return "shy"

        display(Shy(lambda: display(1)))
        module.publish_result(Shy(lambda: display(2)))
        self.expect(("display", [text("1")], b"{}", ""), ("display", [text("2")], b"{}", ""))
        display(Shy(lambda: 1 / 0), Shy(3))
        module.publish_result(Shy(lambda: 1 / 0))
        self.expect(*[("display", [text("shy")], b"{}", "")] * 2, ("result", [text("shy")], b"{}", ""))
        again = Shy(lambda: display(again))
        display(again)
        display(Shy(lambda: display(1)), display_id="one")
        self.expect(("display", [text("shy")], b"{}", ""), ("display", [text("shy")], b"{}", "one"))
        rich = Shy(self.fail)
        rich._repr_html_ = lambda: "<i>shy</i>"
        display(rich)
        self.expect(("display", [text("shy"), ("text/html", "text", b"<i>shy</i>")], b"{}", ""))
        with self.assertRaises(KeyboardInterrupt):
            display(Shy(unittest.mock.Mock(side_effect=KeyboardInterrupt)))

    def test_plain_containers_are_json_too(self):
        display({"a": [float("nan")]})
        entries = [text("{'a': [nan]}"), ("application/json", "json", b'{"a":["NaN"]}')]
        self.expect(("display", entries, b"{}", ""))

    def test_a_display_id_makes_a_handle(self):
        handle = display(1, display_id="one")
        handle.update(2)
        handle.display(3)
        update_display(4, display_id="one")
        self.assertEqual(repr(handle), "<DisplayHandle display_id=one>")
        self.expect(
            ("display", [text("1")], b"{}", "one"),
            ("update", [text("2")], b"{}", "one"),
            ("display", [text("3")], b"{}", "one"),
            ("update", [text("4")], b"{}", "one"),
        )

    def test_true_makes_a_new_id_each_time(self):
        first, second = display(display_id=True), display(display_id=True)
        self.assertNotEqual(first.display_id, second.display_id)
        self.expect(
            ("display", [], b"{}", first.display_id), ("display", [], b"{}", second.display_id)
        )
        self.assertNotEqual(DisplayHandle().display_id, DisplayHandle().display_id)

    def test_an_update_needs_an_id(self):
        with self.assertRaisesRegex(TypeError, "display_id is required"):
            display(1, update=True)
        display(1, update=True, transient={"display_id": "t"})
        self.expect(("update", [text("1")], b"{}", "t"))

    def test_an_id_has_at_most_a_thousand_characters(self):
        display(1, display_id="x" * 1000)
        self.expect(("display", [text("1")], b"{}", "x" * 1000))
        with self.assertRaisesRegex(ValueError, "a display_id of 1001 characters; 1000 are allowed"):
            display(1, display_id="x" * 1001)

    def test_raw_bundles(self):
        bundle = {"text/html": "<b>", "image/png": "iVBO", "x/none": None}
        display(bundle, raw=True, metadata={"a": 1})
        entries = [("text/html", "text", b"<b>"), ("image/png", "bytes", b"\x89PN")]
        self.expect(("display", entries, b'{"a":1}', ""))
        with self.assertRaisesRegex(TypeError, "needs a dict of MIME types, not list"):
            display([], raw=True)

    def test_metadata_is_added_to_the_objects_own(self):
        class Rich:
            __repr__ = lambda self: "r"
            _repr_html_ = lambda self: ("<b>", {"own": 1})

        display(Rich(), metadata={"given": 2})
        entries = [text("r"), ("text/html", "text", b"<b>")]
        self.expect(("display", entries, b'{"text/html":{"own":1},"given":2}', ""))
        display(Rich(), include=["text/html"])
        self.expect(("display", entries[1:], b'{"text/html":{"own":1}}', ""))

    def test_clear(self):
        clear_output()
        display(1, clear=True)
        self.expect(
            ("clear", [], b'{"wait":false}', ""),
            ("clear", [], b'{"wait":true}', ""),
            ("display", [text("1")], b"{}", ""),
        )

    def test_results_and_status_events(self):
        module.publish_result([1])
        module.publish_status({"op": "log", "message": "\ud800"})
        event = '{"op":"log","message":"\ufffd"}'.encode()
        self.expect(
            ("result", [text("[1]")], b"{}", ""),
            ("status", [("application/x-cellar-status", "json", event)], b"{}", ""),
        )

    def test_entries_past_the_limit_become_notes(self):
        bundle = {"image/png": b"x" * 200, "text/html": "<b>", "text/plain": "small"}
        with unittest.mock.patch.object(module, "MAX_BUNDLE_BYTES", 100):
            module.publish_bundle("display", bundle, {"long": "m" * 200})
        note = "small\n[image/png left out: 200 bytes, more than a display of 100 bytes can hold]"
        self.expect(("display", [text(note), ("text/html", "text", b"<b>")], b"{}", ""))

    def test_a_bundle_of_64_mib_is_the_limit(self):
        module.publish_bundle("display", {"a/b": b"x" * (64 << 20)}, {})
        note = "[a/b left out: 67108864 bytes, more than a display of 67108864 bytes can hold]"
        self.expect(("display", [text(note)], b"{}", ""))

    def test_an_odd_display_id_is_valid_text(self):
        module.publish_bundle("display", {}, {}, "\ud800")
        self.expect(("display", [], b"{}", "\ufffd"))


class NotInstalled(unittest.TestCase):
    def test_display_without_a_publisher_says_so(self):
        with self.assertRaisesRegex(RuntimeError, "before a publisher was installed"):
            display(1)


class GuttedBuiltins(unittest.TestCase):
    def test_display_works_when_a_cell_emptied_builtins(self):
        import builtins

        published = []
        module.install(lambda *call: published.append(call))
        self.addCleanup(module.install, module._not_installed)
        kept = dict(builtins.__dict__)
        builtins.__dict__.clear()
        try:
            display([1, {2.5}])
        finally:
            builtins.__dict__.update(kept)
        entries = [text("[1, {2.5}]"), ("application/json", "json", b"[1,[2.5]]")]
        self.assertEqual(published, [("display", entries, b"{}", "")])


if __name__ == "__main__":
    unittest.main()
