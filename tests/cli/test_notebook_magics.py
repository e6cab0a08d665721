"""Notebooks as people write them, with magics and shell lines, through `cellar notebook run`."""
import unittest

from test_notebook_run import NotebookRunTest


class MagicsTest(NotebookRunTest):
    def test_shell_lines(self):
        self.make("!echo one", "lines = !printf 'a\\nb\\n'\nlist(lines)")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(self.outputs(0), [("stdout", "one\n")])
        self.assertEqual(self.outputs(1), [("execute_result", "['a', 'b']")])

    def test_pip(self):
        self.make("!pip --version")
        self.assertEqual(self.run_notebook()[0], 0)
        (kind, text), = self.outputs(0)
        self.assertEqual(kind, "stdout")
        self.assertRegex(text, r"^pip \d")

    def test_a_bash_cell(self):
        self.make("%%bash\nfor i in 1 2; do echo $i; done\necho warned >&2")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertIn(("stdout", "1\n2\n"), self.outputs(0))
        self.assertIn(("stderr", "warned\n"), self.outputs(0))

    def test_inline_figures(self):
        self.make("%matplotlib inline\nimport matplotlib.pyplot as plt", "plt.plot([1, 2]);")
        code, _, err = self.run_notebook()
        if "No module named 'matplotlib'" in err:
            self.skipTest("matplotlib is not installed")
        self.assertEqual(code, 0, err)
        self.assertEqual([output["output_type"] for output in self.read()[1]["outputs"]], ["display_data"])
        self.assertTrue(self.read()[1]["outputs"][0]["data"]["image/png"].startswith("iVBOR"))

    def test_html(self):
        self.make("from IPython.display import HTML, display\ndisplay(HTML('<b>bold</b>'))")
        code, _, err = self.run_notebook()
        if "No module named 'IPython'" in err:
            self.skipTest("IPython is not installed")
        self.assertEqual(code, 0, err)
        self.assertEqual("".join(self.read()[0]["outputs"][0]["data"]["text/html"]), "<b>bold</b>")

    def test_what_sets_up_ipython_says_that_it_has_no_effect(self):
        self.make("%load_ext autoreload\n%autoreload 2", "%config InlineBackend.figure_format = 'retina'\n6 * 7")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(self.outputs(0), [("stderr", (
            "[%load_ext autoreload has no effect: extensions of IPython, and their magics, are not there]\n"
            "[%autoreload has no effect: importlib.reload(module) loads a changed module]\n"))])
        self.assertEqual(self.outputs(1), [("stderr", "[%config has no effect: there is no IPython here to set up]\n"),
                                           ("execute_result", "42")])

    def test_cells_of_a_page(self):
        self.make("%%html\n<b>bold</b>", "%%javascript\nalert(1)")
        self.assertEqual(self.run_notebook()[0], 0)
        for cell, mime, text in ((0, "text/html", "<b>bold</b>"), (1, "application/javascript", "alert(1)")):
            self.assertEqual("".join(self.read()[cell]["outputs"][0]["data"][mime]), text)

    def test_a_failing_magic_fails_the_cell(self):
        self.make("%no_such_magic")
        self.assertEqual(self.run_notebook()[0], 1)
        self.assertEqual(self.outputs(0)[-1][0], "error")


if __name__ == "__main__":
    unittest.main()
