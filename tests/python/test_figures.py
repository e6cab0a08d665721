import sys
import unittest
import unittest.mock
import warnings

from cellar_runtime import capture, display, figures

figures.install()

try:
    import matplotlib
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure
except ImportError:
    matplotlib = None


class WithoutMatplotlib(unittest.TestCase):
    def test_flush_does_not_need_it(self):
        with unittest.mock.patch.dict(sys.modules):
            sys.modules.pop("matplotlib.pyplot", None)
            figures.flush_figures()

    def test_a_pyplot_that_had_to_be_interrupted_is_left_alone(self):
        close = unittest.mock.Mock(side_effect=KeyboardInterrupt)
        with unittest.mock.patch.dict(sys.modules, {"matplotlib.pyplot": unittest.mock.Mock(close=close)}):
            with self.assertRaises(KeyboardInterrupt):
                figures.flush_figures()
            figures.flush_figures()
        close.assert_called_once()


@unittest.skipIf(matplotlib is None, "matplotlib is not installed")
class FiguresTest(unittest.TestCase):
    def setUp(self):
        self.published = []
        display.install(lambda *call: self.published.append(call))
        self.addCleanup(display.install, display._not_installed)
        warnings.simplefilter("error")
        self.addCleanup(warnings.resetwarnings)

    def tearDown(self):
        figures.flush_figures()
        self.assertEqual(self.published, [], "output that the test did not expect")
        self.assertEqual(plt.get_fignums(), [])

    def test_a_captured_figure_is_kept_and_not_shown(self):
        with capture.Capture([]) as captured:
            plt.plot([1])
        self.assertEqual([list(output) for output in captured.outputs], [["text/plain", "image/png"]])

    def expect(self, *kinds, text=b"<Figure size 640x480 with 1 Axes>"):
        """Asserts that one PNG with its text was published for each kind."""
        for kind, (published, entries, _, _) in zip(kinds, self.published, strict=True):
            self.assertEqual(published, kind)
            self.assertEqual(entries[0], ("text/plain", "text", text))
            self.assertEqual(entries[1][:2], ("image/png", "bytes"))
            self.assertEqual(entries[1][2][:8], b"\x89PNG\r\n\x1a\n")
        self.published.clear()

    def test_the_backend_is_agg(self):
        self.assertEqual(matplotlib.get_backend().lower(), "agg")

    def test_open_figures_are_shown_at_the_end_and_closed(self):
        plt.plot([1, 2])
        plt.figure()
        plt.plot([2, 1])
        figures.flush_figures()
        self.expect("display", "display")
        figures.flush_figures()
        self.expect()

    def test_a_displayed_figure_is_not_shown_again(self):
        figure, _ = plt.subplots()
        display.display(figure)
        figures.flush_figures()
        self.expect("display")

    def test_a_result_is_not_shown_again(self):
        figure, _ = plt.subplots()
        display.publish_result(figure)
        figures.flush_figures()
        self.expect("result")

    def test_a_figure_of_an_earlier_cell_can_be_shown_again(self):
        figure, _ = plt.subplots()
        figures.flush_figures()
        display.display(figure)
        self.expect("display", "display")

    def test_show_shows_and_closes_at_once_without_a_warning(self):
        plt.plot([1, 2])
        plt.show()
        self.expect("display")
        self.assertEqual(plt.get_fignums(), [])
        plt.plot([1, 2])
        plt.show(block=False)
        figures.flush_figures()
        self.expect("display")

    def test_a_figure_closed_by_the_cell_is_not_shown(self):
        plt.plot([1, 2])
        plt.close()

    def test_a_figure_without_pyplot_is_shown_when_displayed(self):
        figure = Figure()
        figure.subplots()
        display.display(figure)
        self.expect("display")

    def test_a_figure_that_cannot_be_drawn_says_why(self):
        plt.title(r"$\nonsense$")
        figures.flush_figures()
        (kind, entries, _, _), = self.published
        self.published.clear()
        self.assertEqual((kind, len(entries)), ("display", 1))
        self.assertIn(b"with 1 Axes> could not be drawn: ValueError: ", entries[0][2])

    def test_an_interrupted_drawing_closes_all_the_same(self):
        class Stop:
            def __call__(self, *args):
                raise KeyboardInterrupt

        figure, axes = plt.subplots()
        axes.draw = Stop()
        with self.assertRaises(KeyboardInterrupt):
            figures.flush_figures()


if __name__ == "__main__":
    unittest.main()
