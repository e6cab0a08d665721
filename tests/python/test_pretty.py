import collections
import os
import time
import unittest
from unittest import mock

from cellar_runtime import pretty as module
from cellar_runtime.pretty import pretty

try:
    import numpy
except ImportError:
    numpy = None


class Layout(unittest.TestCase):
    def test_short_values_are_their_repr(self):
        values = (
            1, "a\nb", [], {}, (), (1,), [1, [2, (3,)]], {"a": {"b": 1}}, set(), {1}, frozenset(),
            frozenset({1}), collections.deque([1], 3), collections.Counter("aab"), print, int,
            collections.OrderedDict(a=1), collections.defaultdict(int, a=1), collections.Counter(),
            collections.OrderedDict(), collections.deque(), collections.namedtuple("P", "x")(1),
        )  # fmt: skip
        for value in values:
            self.assertEqual(pretty(value), repr(value))

    def test_a_class_that_cannot_be_hashed_is_cut_like_any_other(self):
        class Meta(type):
            __hash__ = None

        class Many(list, metaclass=Meta):
            pass

        self.assertEqual(pretty(Many(range(3))), "[0, 1, 2]")
        self.assertTrue(pretty(Many([0] * 2000)).endswith("...]"))

    def test_columns_says_how_wide_the_terminal_is(self):
        value = list(range(10**7, 10**7 + 9))  # 90 columns
        for columns, lines in (("91", 1), ("90", 9), ("0", 9), ("wide", 9)):
            with self.subTest(columns), mock.patch.dict(os.environ, COLUMNS=columns):
                self.assertEqual(len(pretty(value).split("\n")), lines)

    def test_a_line_of_79_columns_is_kept_and_80_are_broken(self):
        fits, breaks = ["x" * 36, "y" * 35], ["x" * 36, "y" * 36]
        self.assertEqual(len(repr(fits)), 79)
        self.assertEqual(pretty(fits), repr(fits))
        self.assertEqual(pretty(breaks), f"[{breaks[0]!r},\n {breaks[1]!r}]")

    def test_nested_containers_break_from_the_outside(self):
        value = {"numbers": [1, 2, 3], "inner": {"text": "x" * 60, "more": ("y" * 10, 2)}}
        self.assertEqual(
            pretty(value),
            "{'numbers': [1, 2, 3],\n"
            f" 'inner': {{'text': '{'x' * 60}',\n"
            "           'more': ('yyyyyyyyyy', 2)}}",
        )

    def test_named_containers_align_their_items(self):
        value = collections.Counter({"a" * 40: 2, "b" * 40: 1})
        self.assertEqual(pretty(value), f"Counter({{{'a' * 40!r}: 2,\n         {'b' * 40!r}: 1}})")

    def test_sets_are_sorted_where_they_can_be(self):
        self.assertEqual(pretty({"c", "a", "b"}), "{'a', 'b', 'c'}")
        self.assertIn(pretty({1, "a"}), ("{1, 'a'}", "{'a', 1}"))

    def test_subclasses_that_keep_the_repr_are_laid_out_too(self):
        class Config(dict):
            def items(self):
                raise ValueError

        value = Config(a="x" * 50, b="y" * 50)
        self.assertEqual(pretty(value), f"{{'a': {'x' * 50!r},\n 'b': {'y' * 50!r}}}")

    @unittest.skipIf(numpy is None, "numpy is not installed")
    def test_multi_line_reprs_are_indented(self):
        value = {"m": numpy.array([[1, 2], [3, 4]])}
        self.assertEqual(pretty(value), "{'m': array([[1, 2],\n             [3, 4]])}")


class Bounds(unittest.TestCase):
    def test_long_containers_are_elided_after_1000_items(self):
        expected = "[" + ",\n ".join(map(str, range(1000))) + ",\n ...]"
        self.assertEqual(pretty(list(range(1001))), expected)
        self.assertEqual(pretty({n: n for n in range(1001)}).count("\n"), 1000)
        self.assertNotIn("...", pretty(list(range(1000))))

    def test_huge_containers_are_quick(self):
        million, square = list(range(10**6)), [[0] * 1000] * 1000
        started = time.process_time()
        pretty(million)
        pretty(set(million))
        self.assertLess(time.process_time() - started, 1)
        self.assertLess(len(pretty([square] * 1000)), module.MAX_CHARS + 100)
        self.assertLess(time.process_time() - started, 20)

    def test_a_huge_repr_is_cut_with_a_mark(self):
        text = pretty("x" * (module.MAX_CHARS + 98))
        shown = "'" + "x" * (module.MAX_CHARS - 1)
        self.assertEqual(text, shown + "... [100 more characters]")

    def test_circular_and_deep_values(self):
        loop = {"a": []}
        loop["a"].append(loop)
        self.assertEqual(pretty(loop), repr(loop))
        deep = []
        for _ in range(100_000):
            deep = [deep]
        self.assertEqual(pretty(deep).strip("[]\n "), "...")

    def test_one_failing_item_spoils_only_itself(self):
        class Bad:
            def __repr__(self):
                raise KeyError

        self.assertEqual(pretty([1, Bad()]), "[1, <unprintable Bad object: KeyError in __repr__>]")

    def test_a_container_that_changes_while_it_is_read(self):
        class Growing:
            def __init__(self, home):
                self.home = home

            def __repr__(self):
                self.home[len(self.home)] = 1
                return "grows"

        home = {}
        home[0] = Growing(home)
        home[1] = 1
        self.assertEqual(pretty(home)[:11], "{0: grows, ")

    def test_interrupts_pass_through(self):
        class Stop:
            def __repr__(self):
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            pretty([Stop()])


if __name__ == "__main__":
    unittest.main()
