import importlib
import linecache
import os
import pathlib
import sys
import tempfile
import time
import traceback
import types
import unittest

from cellar_runtime import cell_sources, stack, tracebacks
from cellar_runtime.tracebacks import format_error


def compiled(source, filename, name, **names):
    namespace = {"__name__": "__main__", **names}
    exec(compile(source, filename, "exec"), namespace)
    return namespace[name]


# Stands for the runner: what it raises and calls has frames of cellar's own code on top.
run_code = compiled(
    "def run_code(source, filename, names):\n    exec(compile(source, filename, 'exec'), names)\n",
    "<frozen cellar_runtime.runner>",
    "run_code",
)


def error_of(source, number=1, **names):
    """The exception that the cell raises, with the frames that the runner would see."""
    filename = f"<cell {number}>"
    cell_sources.register(filename, source)
    try:
        run_code(source, filename, {"__name__": "__main__", **names})
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next  # this function is no part of cellar
        return error
    raise AssertionError("the cell did not fail")


def report(source, **names):
    return format_error(error_of(source, **names))[2]


def python_report(error):
    return "".join(traceback.format_exception(error)).rstrip("\n")


class Tracebacks(unittest.TestCase):
    def test_a_cell_error_shows_lines_and_carets(self):
        self.assertEqual(
            format_error(error_of("def half(x):\n    return 1 / x + 2\nhalf(0)\n")),
            (
                "ZeroDivisionError",
                "division by zero",
                "Traceback (most recent call last):\n"
                '  File "<cell 1>", line 3, in <module>\n'
                "    half(0)\n"
                '  File "<cell 1>", line 2, in half\n'
                "    return 1 / x + 2\n"
                "           ~~^~~\n"
                "ZeroDivisionError: division by zero",
                None,
            ),
        )

    def test_looks_like_pythons_own_report(self):
        sources = (
            "try:\n  1/0\nexcept Exception as e:\n  raise KeyError('a\\nb') from e",
            "try:\n  1/0\nexcept Exception:\n  raise KeyError('x')",
            "try:\n  1/0\nexcept Exception:\n  raise KeyError('x') from None",
            "e = ValueError('x')\ne.add_note('one\\ntwo')\nraise e",
            "import json\njson.loads('{')",
            "def f(x): f(x)\nf(0)",
            "raise ExceptionGroup('g', [ValueError('a\\nb'), ExceptionGroup('h', [OSError()])])",
            "raise ExceptionGroup('g', [ExceptionGroup('h', [OSError()]), ValueError(1)])",
            "raise ExceptionGroup('g', [OSError(n) for n in range(20)])",
            "try:\n  1/0\nexcept Exception:\n  raise ExceptionGroup('g', [OSError()])",
            "eval('1 +')",
            "class E(Exception): pass\nraise E",
            "raise KeyboardInterrupt",
            "def f(): raise ValueError('é')\nx = 'é' + f()",
        )
        for source in sources:
            with self.subTest(source):
                error = error_of(source)
                error.__traceback__ = error.__traceback__.tb_next  # the runner, which Python shows
                self.assertEqual(format_error(error)[2], python_report(error))

    def test_sources_survive_checkcache_and_clearcache(self):
        error = error_of("# first\n1 / 0\n", number=7)
        expected = '  File "<cell 7>", line 2, in <module>\n    1 / 0\n    ~~^~~\n'
        linecache.checkcache()
        self.assertEqual(linecache.getline("<cell 7>", 2), "1 / 0\n")
        linecache.clearcache()
        self.assertIn(expected, format_error(error)[2])

    def test_form_feeds_do_not_shift_the_lines(self):
        self.assertIn("    1 / 0\n", report("'''\x0c\u2028'''\n1 / 0\n"))

    def test_keyboard_interrupt_and_group_of_base_exceptions(self):
        name = "KeyboardInterrupt"
        self.assertEqual(format_error(KeyboardInterrupt()), (name, "", name, None))
        name, value, _, _ = format_error(BaseExceptionGroup("g", [KeyboardInterrupt()]))
        self.assertEqual((name, value), ("BaseExceptionGroup", "g (1 sub-exception)"))


class OwnFrames(unittest.TestCase):
    def helper(self, source):
        return compiled(source, "<frozen cellar_prelude>", "helper")

    def test_frames_of_helpers_are_removed(self):
        helper = self.helper("def helper(): return inner()\ndef inner(): raise OSError('no')\n")
        self.assertEqual(
            report("helper()", helper=helper),
            'Traceback (most recent call last):\n  File "<cell 1>", line 1, in <module>\n'
            "    helper()\nOSError: no",
        )

    def test_user_frames_below_a_helper_stay(self):
        helper = self.helper("def helper(f): return f()\n")
        text = report("def f(): 1 / 0\nhelper(f)\n", helper=helper)
        self.assertEqual(text.count("File "), 2)
        self.assertIn("line 2, in <module>", text)
        self.assertIn("line 1, in f", text)

    def test_frames_are_removed_from_causes_and_contexts(self):
        helper = self.helper(
            "def helper(chained):\n"
            "    try:\n        1 / 0\n"
            "    except Exception as e:\n"
            "        if chained: raise OSError('no') from e\n"
            "        raise OSError('no')\n"
        )
        for chained, words in ((True, tracebacks._CAUSED), (False, tracebacks._DURING)):
            self.assertEqual(
                report(f"helper({chained})", helper=helper),
                f"ZeroDivisionError: division by zero\n\n{words}\n\n"
                'Traceback (most recent call last):\n  File "<cell 1>", line 1, in <module>\n'
                f"    helper({chained})\nOSError: no",
            )

    def test_frames_are_removed_from_nested_groups(self):
        helper = self.helper(
            "def helper(f):\n"
            "    try:\n        f()\n"
            "    except Exception as e:\n        raised = e\n"
            "    raise ExceptionGroup('outer', [ExceptionGroup('inner', [raised])])\n"
        )
        self.assertEqual(
            report("def f(): 1 / 0\nhelper(f)", helper=helper),
            "  + Exception Group Traceback (most recent call last):\n"
            '  |   File "<cell 1>", line 2, in <module>\n'
            "  |     helper(f)\n"
            "  | ExceptionGroup: outer (1 sub-exception)\n"
            "  +-+---------------- 1 ----------------\n"
            "    | ExceptionGroup: inner (1 sub-exception)\n"
            "    +-+---------------- 1 ----------------\n"
            "      | Traceback (most recent call last):\n"
            '      |   File "<cell 1>", line 1, in f\n'
            "      |     def f(): 1 / 0\n"
            "      |              ~~^~~\n"
            "      | ZeroDivisionError: division by zero\n"
            "      +------------------------------------",
        )

    def test_a_group_as_the_cause_inside_a_group_is_closed(self):
        cause, member = ExceptionGroup("c", [OSError()]), ValueError()
        member.__cause__ = cause
        lines = format_error(ExceptionGroup("g", [member]))[2].split("\n")
        self.assertEqual(lines[-2:], ["    | ValueError", "    +" + "-" * 36])


class SyntaxErrors(unittest.TestCase):
    def test_a_cell_that_does_not_compile_is_a_caret_block(self):
        self.assertEqual(
            format_error(error_of("x = 1\ny = (2\n")),
            (
                "SyntaxError",
                "'(' was never closed (<cell 1>, line 2)",
                '  File "<cell 1>", line 2\n    y = (2\n        ^\n'
                "SyntaxError: '(' was never closed",
                None,
            ),
        )

    def test_errors_after_parsing_show_the_line_too(self):
        self.assertEqual(
            report("x = 1\nreturn x\n"),
            '  File "<cell 1>", line 2\n    return x\n    ^^^^^^^^\n'
            "SyntaxError: 'return' outside function",
        )

    def test_indentation_errors_keep_their_name(self):
        self.assertEqual(
            report("if 1:\nx\n"),
            '  File "<cell 1>", line 2\n    x\n    ^\n'
            "IndentationError: expected an indented block after 'if' statement on line 1",
        )

    def test_what_was_handled_before_does_not_show(self):
        try:
            raise KeyError
        except KeyError:
            text = report("x =")
        block = '  File "<cell 1>", line 1\n    x =\n       ^\n'
        self.assertEqual(text, block + "SyntaxError: invalid syntax")

    def test_a_broken_module_has_a_normal_traceback(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "broken_module.py"
            path.write_text("x =\n")
            sys.path.insert(0, folder)
            importlib.invalidate_caches()
            try:
                text = report("import broken_module")
            finally:
                sys.path.remove(folder)
        self.assertEqual(
            text,
            'Traceback (most recent call last):\n  File "<cell 1>", line 1, in <module>\n'
            f'    import broken_module\n  File "{path}", line 1\n    x =\n       ^\n'
            "SyntaxError: invalid syntax",
        )

    def test_fields_of_odd_types(self):
        odd = SyntaxError("bad", (5, "line", [], {}))
        self.assertEqual(format_error(odd)[2], "SyntaxError: bad")
        self.assertEqual(format_error(SyntaxError())[2], "SyntaxError: None")


class SystemExits(unittest.TestCase):
    def test_the_exit_code(self):
        for code, expected in (
            (None, ("SystemExit", "", "SystemExit", 0)),
            (3, ("SystemExit", "3", "SystemExit: 3", 3)),
            (True, ("SystemExit", "True", "SystemExit: True", 1)),
            (-1, ("SystemExit", "-1", "SystemExit: -1", 255)),
            (256, ("SystemExit", "256", "SystemExit: 256", 0)),
            (2**64, ("SystemExit", str(2**64), f"SystemExit: {2**64}", 255)),
            ("bye", ("SystemExit", "bye", "SystemExit: bye", 1)),
        ):
            self.assertEqual(format_error(SystemExit(code)), expected)

    def test_a_code_that_cannot_be_printed(self):
        class Code:
            def __str__(self):
                raise ValueError

        text = "<unprintable Code object: ValueError in __str__>"
        self.assertEqual(
            format_error(SystemExit(Code())), ("SystemExit", text, f"SystemExit: {text}", 1)
        )


class HostileExceptions(unittest.TestCase):
    def test_broken_str_and_repr(self):
        class Bad(Exception):
            def __str__(self):
                raise ValueError

            __repr__ = __str__

        text = "<unprintable Bad object: ValueError in __str__>"
        name, value, report, _ = format_error(Bad())
        self.assertEqual((name, value), ("Bad", text))
        self.assertTrue(report.endswith(f".Bad: {text}"))

    def test_a_str_subclass_whose_methods_raise(self):
        source = (
            "class Loud(str):\n"
            "    def fail(self, *args, **kwargs): raise ValueError\n"
            "    encode = split = replace = __format__ = __len__ = __str__ = __eq__ = fail\n"
            "    __hash__ = None\n"
            "class Bad(Exception):\n"
            "    def __str__(self): return Loud('loud')\n"
            "raise Bad\n"
        )
        name, value, text, _ = format_error(error_of(source))
        self.assertEqual((name, value, type(value)), ("Bad", "loud", str))
        self.assertTrue(text.endswith("    raise Bad\nBad: loud"))

    def test_overridden_attributes_and_metaclass(self):
        source = (
            "class Meta(type):\n"
            "    def __getattribute__(cls, name): raise ValueError\n"
            "    __hash__ = None\n"
            "    def __eq__(cls, other): raise ValueError\n"
            "class Bad(Exception, metaclass=Meta):\n"
            "    fail = property(lambda self: 1 / 0)\n"
            "    __class__ = __cause__ = __context__ = __traceback__ = __notes__ = fail\n"
            "    __suppress_context__ = with_traceback = args = fail\n"
            "def go():\n"
            "    try: raise KeyError('first')\n"
            "    except KeyError: raise Bad('x')\n"
            "go()\n"
        )
        error = None
        cell_sources.register("<cell 1>", source)
        try:
            run_code(source, "<cell 1>", {"__name__": "__main__"})
        except BaseException as caught:
            error = caught
        name, value, text, _ = format_error(error)
        self.assertEqual((name, value), ("Bad", "x"))
        self.assertIn("KeyError: 'first'\n\nDuring handling", text)
        self.assertIn("except KeyError: raise Bad('x')", text)
        self.assertTrue(text.endswith("\nBad: x"))

    def test_a_traceback_with_an_impossible_position(self):
        error = error_of("1 / 0")
        frame = error.__traceback__.tb_next.tb_frame
        for instruction, line in ((10**6, 1), (-7, 1), (0, 99)):
            error.__traceback__ = types.TracebackType(None, frame, instruction, line)
            self.assertIn(f'File "<cell 1>", line {line}, in <module>', format_error(error)[2])

    def test_a_loader_that_fails(self):
        class Loader:
            def get_source(self, name):
                raise SystemExit

        code = compile("def f(): raise ValueError('x')\n", "nowhere.py", "exec")
        namespace = {"__name__": "nowhere", "__loader__": Loader()}
        exec(code, namespace)
        text = report("f()", f=namespace["f"])
        self.assertTrue(text.endswith('  File "nowhere.py", line 1, in f\nValueError: x'))

    def test_files_that_cannot_be_read_to_their_end(self):
        with tempfile.TemporaryDirectory() as folder:
            fifo = os.path.join(folder, "fifo")
            os.mkfifo(fifo)
            for name in (fifo, "/dev/zero", folder):
                error = error_of(f"exec(compile('1/0', {name!r}, 'exec'))")
                text = format_error(error)[2]
                self.assertIn(f'File "{name}", line 1, in <module>\nZeroDivisionError', text)

    def test_interrupts_pass_through_str(self):
        class Stop(Exception):
            def __str__(self):
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            format_error(Stop())

    def test_surrogates_and_odd_notes(self):
        error = ValueError("\ud800")
        error.__notes__ = 5
        self.assertEqual(format_error(error)[1:3], ("\ufffd", "ValueError: \ufffd\n5"))
        error.__notes__ = [3] * 60
        self.assertTrue(format_error(error)[2].endswith("\n3\n3\n[... 10 notes left out ...]"))

    def test_emptied_builtins_still_give_the_places(self):
        import builtins

        error = error_of("1 / 0")
        kept = dict(builtins.__dict__)
        builtins.__dict__.clear()
        try:
            text = format_error(error)[2]
        finally:
            builtins.__dict__.update(kept)
        self.assertIn('  File "<cell 1>", line 1, in <module>\n', text)
        self.assertTrue(text.endswith("\nZeroDivisionError: division by zero"))


class Bounds(unittest.TestCase):
    def setUp(self):
        started = time.process_time()
        self.addCleanup(lambda: self.assertLess(time.process_time() - started, 10))

    def test_a_long_message_keeps_head_and_tail(self):
        name, value, text, _ = format_error(ValueError("a" * 10**7 + "end"))
        self.assertLess(len(value), tracebacks.MAX_EVALUE_BYTES + 100)
        self.assertLess(len(text), tracebacks.MAX_TEXT_BYTES + 100)
        self.assertTrue(text.startswith("ValueError: aaa") and text.endswith("aaaend"))
        self.assertIn(" bytes left out ...]", text)

    def test_many_long_messages_are_cut_in_the_middle(self):
        group = ExceptionGroup("g", [ValueError(str(n) * 30_000) for n in range(9)])
        text = format_error(group)[2]
        self.assertLess(len(text), tracebacks.MAX_TEXT_BYTES + 100)
        self.assertTrue(text.startswith("  | ExceptionGroup: g") and text.endswith("-----"))

    def test_a_deep_stack_of_different_frames(self):
        text = report("def a(n): b(n)\ndef b(n): a(n)\na(0)")
        frames = stack.MAX_HEAD_FRAMES + stack.MAX_TAIL_FRAMES
        self.assertEqual(text.count("  File "), frames)
        self.assertRegex(text, r"\n  \[\.\.\. \d+ frames left out \.\.\.\]\n")

    def test_a_very_long_line(self):
        text = report("x = [" + "1, " * 10**5 + "] + 1 / 0")
        self.assertLess(len(text), 3 * stack.MAX_LINE_CHARS)
        self.assertIn(" more characters]", text)
        text = report("x = [" + "1, " * 10**5 + "] + (")
        self.assertLess(len(text), 3 * stack.MAX_LINE_CHARS)

    def test_a_chain_of_ten_thousand(self):
        error = ValueError(0)
        for number in range(1, 10_000):
            following = ValueError(number)
            following.__cause__ = error
            error = following
        text = format_error(error)[2]
        self.assertTrue(text.startswith("ValueError: 0\n\nThe above exception"))
        self.assertTrue(text.endswith("ValueError: 9999"))
        self.assertIn("\nValueError: 9\n\n[... 9980 exceptions of this chain left out ...]\n", text)

    def test_a_circular_chain(self):
        one, two = ValueError(1), ValueError(2)
        one.__context__, two.__context__ = two, one
        self.assertEqual(
            format_error(one)[2], f"ValueError: 2\n\n{tracebacks._DURING}\n\nValueError: 1"
        )

    def test_a_group_of_depth_one_thousand(self):
        error = ValueError("core")
        for _ in range(1000):
            error = ExceptionGroup("g", [error])
        text = format_error(error)[2]
        self.assertEqual(text.count("ExceptionGroup: g"), 10)
        self.assertIn("| ... (groups nested deeper than 10 levels)\n", text)

    def test_groups_that_multiply(self):
        error = ValueError("core")
        for _ in range(9):
            error = ExceptionGroup("g", [error] * 15)
        text = format_error(error)[2]
        self.assertIn("[... all exceptions after the first 200 left out ...]", text)


if __name__ == "__main__":
    unittest.main()
