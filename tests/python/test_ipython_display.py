import importlib.util
import subprocess
import sys
import types
import unittest
import warnings

from cellar_runtime import display, ipython_display

ipython_display.install()
HAS_IPYTHON = importlib.util.find_spec("IPython") is not None


class Installing(unittest.TestCase):
    def test_imports_nothing(self):
        code = (
            "import sys; from cellar_runtime import ipython_display as i; i.install();"
            "sys.exit('IPython' in sys.modules or 'json' in sys.modules)"
        )
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, 0)

    def test_only_names_that_are_there_are_replaced(self):
        old = types.ModuleType("old")
        old.display = None
        ipython_display._replace_functions(old)
        self.assertIs(old.display, display.display)
        self.assertFalse(hasattr(old, "update_display"))


@unittest.skipUnless(HAS_IPYTHON, "IPython is not installed")
class IPythonDisplayTest(unittest.TestCase):
    def setUp(self):
        self.published = []
        display.install(lambda *call: self.published.append(call))
        self.addCleanup(display.install, display._not_installed)

    def tearDown(self):
        self.assertEqual(self.published, [], "output that the test did not expect")

    def shown(self):
        """The entries of the one output published, but for text/plain."""
        ((kind, entries, _, _),) = self.published
        self.published.clear()
        self.assertEqual(kind, "display")
        return [entry for entry in entries if entry[0] != "text/plain"]

    def test_the_functions_are_ours_wherever_they_are_imported_from(self):
        import IPython.core.display_functions
        import IPython.display

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            homes = (IPython.display, IPython.core.display_functions, IPython.core.display)
            for home in homes:
                self.assertIs(home.display, display.display)
                self.assertIs(home.update_display, display.update_display)
                self.assertIs(home.clear_output, display.clear_output)
                self.assertIs(home.publish_display_data, ipython_display.publish_display_data)

    def test_an_object_prints_itself_by_its_repr_pretty(self):
        from IPython.display import Pretty

        class Failing:
            def _repr_pretty_(self, printer, cycle):
                raise ValueError

            def __repr__(self):
                return "plain"

        display.display(Pretty("abc"), Failing())
        self.assertEqual([entries for _, entries, _, _ in self.published],
                         [[("text/plain", "text", b"abc")], [("text/plain", "text", b"plain")]])
        self.published.clear()

    def test_publish_display_data(self):
        from IPython.display import publish_display_data

        publish_display_data({"text/html": "<b>"}, {"a": 1}, transient={"display_id": "x"})
        publish_display_data({"text/html": "<i>"}, transient={"display_id": "x"}, update=True)
        self.assertEqual(
            self.published,
            [
                ("display", [("text/html", "text", b"<b>")], b'{"a":1}', "x"),
                ("update", [("text/html", "text", b"<i>")], b"{}", "x"),
            ],
        )
        self.published.clear()

    def test_text_objects(self):
        from IPython.display import HTML, SVG, Javascript, Latex, Markdown, Math, display

        svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
        for obj, mime, data in (
            (HTML("<b>"), "text/html", "<b>"),
            (Markdown("**a**"), "text/markdown", "**a**"),
            (SVG(svg), "image/svg+xml", svg),
            (Latex("$x$"), "text/latex", "$x$"),
            (Math("x"), "text/latex", r"$\displaystyle x$"),
            (Javascript("f()"), "application/javascript", "f()"),
        ):
            display(obj)
            self.assertEqual(self.shown(), [(mime, "text", data.encode())])

    def test_json_and_images(self):
        from IPython.display import JSON, Image, display

        png = b"\x89PNG\r\n\x1a\n" + b"\0" * 16
        display(JSON({"a": [1]}))
        self.assertEqual(self.shown(), [("application/json", "json", b'{"a":[1]}')])
        display(Image(data=png))
        self.assertEqual(self.shown(), [("image/png", "bytes", png)])
        display(Image(data=b"\xff\xd8\xff", format="jpeg"))
        self.assertEqual(self.shown(), [("image/jpeg", "bytes", b"\xff\xd8\xff")])
        display(Image(data=b"GIF89a", format="gif"))
        self.assertEqual(self.shown(), [("image/gif", "bytes", b"GIF89a")])

    def test_media_are_html(self):
        from IPython.display import Audio, IFrame, Video, display

        for obj in (Audio(data=b"RIFF"), IFrame("http://x", 1, 1), Video("http://x/a.mp4")):
            display(obj)
            ((mime, kind, data),) = self.shown()
            self.assertEqual((mime, kind, data.lstrip()[:1]), ("text/html", "text", b"<"))

    def test_the_progress_bar_updates_in_place(self):
        from IPython.display import ProgressBar

        list(ProgressBar(2))
        kinds = [kind for kind, _, _, _ in self.published]
        ids = {display_id for _, _, _, display_id in self.published}
        self.published.clear()
        self.assertEqual(kinds, ["display", "update", "update", "update"])
        self.assertEqual(len(ids), 1)

    def test_display_html_shows_only_html(self):
        from IPython.display import HTML, display_html

        display_html(HTML("<b>"))
        self.assertEqual(self.shown(), [("text/html", "text", b"<b>")])


if __name__ == "__main__":
    unittest.main()
