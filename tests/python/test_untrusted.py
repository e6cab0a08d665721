import asyncio
import unittest

from cellar_runtime import untrusted


class Failing:
    def __init__(self, error):
        self.error = error

    def __repr__(self):
        raise self.error


class LyingMeta(type):
    __name__ = property(lambda cls: 1 / 0)
    __module__ = property(lambda cls: 1 / 0)
    __mro__ = property(lambda cls: 1 / 0)
    __hash__ = None

    def __eq__(cls, other):
        raise ValueError

    def __getattribute__(cls, name):
        raise ValueError(name)


class Lying(metaclass=LyingMeta):
    pass


class GuardTest(unittest.TestCase):
    def test_a_failing_repr_becomes_a_placeholder(self):
        for error in (ValueError(), SystemExit(), RecursionError(), MemoryError()):
            name = type(error).__name__
            self.assertEqual(
                untrusted.safe_repr(Failing(error)), f"<unprintable Failing object: {name} in __repr__>"
            )

    def test_a_failing_str_names_the_method(self):
        class Silent:
            def __str__(self):
                return 5

        text = "<unprintable Silent object: TypeError in __str__>"
        self.assertEqual(untrusted.safe_str(Silent()), text)

    def test_interrupts_pass_through_a_repr(self):
        for error in (KeyboardInterrupt, asyncio.CancelledError):
            with self.assertRaises(error):
                untrusted.safe_repr(Failing(error()))

    def test_a_str_subclass_from_repr_becomes_a_plain_str(self):
        class Loud(str):
            def encode(self, *args):
                raise ValueError

        class Speaker:
            def __repr__(self):
                return Loud("hello")

        self.assertIs(type(untrusted.safe_repr(Speaker())), str)

    def test_names_are_read_past_the_metaclass(self):
        self.assertEqual(untrusted.type_name(Lying), "Lying")
        self.assertEqual(untrusted.qualified_names(Lying), [f"{__name__}.Lying", "builtins.object"])
        self.assertFalse(untrusted.is_one_of(Lying, (int, str)))

    def test_a_class_without_a_usable_module_keeps_its_name(self):
        self.assertEqual(untrusted.qualified_name(type("Odd", (), {"__module__": 5})), "Odd")

    def test_code_is_that_of_functions_and_methods(self):
        function = lambda: 0
        self.assertIs(untrusted.code_of(function), function.__code__)
        self.assertIs(untrusted.code_of(self.setUp), type(self).setUp.__code__)
        self.assertIsNone(untrusted.code_of(len))

    def test_surrogates_become_valid_text(self):
        self.assertEqual(untrusted.valid_text("a\ud800b"), "a\ufffdb")
        self.assertEqual(untrusted.valid_text("end\udcff"), "end\ufffd")
        self.assertEqual(untrusted.valid_text("\ud83d\ude00"), "\U0001f600")
        self.assertEqual(untrusted.utf8("\ud800"), b"\xef\xbf\xbd")

    def test_cut_end_says_how_much_is_missing(self):
        self.assertEqual(untrusted.cut_end("abcdef", 6), "abcdef")
        self.assertEqual(untrusted.cut_end("abcdef", 4), "abcd... [2 more characters]")

    def test_cut_middle_keeps_both_ends_on_character_borders(self):
        self.assertEqual(untrusted.cut_middle("abc", 3), "abc")
        self.assertEqual(
            untrusted.cut_middle("aé" + "x" * 10 + "éz", 4), "a\n[... 12 bytes left out ...]\nz"
        )


if __name__ == "__main__":
    unittest.main()
