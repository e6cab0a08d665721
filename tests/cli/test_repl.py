"""`cellar repl`, and `cellar` without arguments, on a real terminal."""
import importlib.util
import json
import os
import re
import stat
import time
import unittest

from program import ProgramTest, Terminal, until_there, wait_until
from prompt import AtPrompt

# One red pixel.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
SHOW_DOT = f"display({{'image/png': '{DOT}'}}, raw=True)\r"


class Repl(AtPrompt, ProgramTest):
    def setUp(self):
        super().setUp()
        self.env["NO_COLOR"] = "1"

    def test_it_is_what_the_program_does_on_a_terminal(self):
        self.command = ()
        terminal = self.prompt()
        terminal.send("40 + 2\r")
        terminal.wait_for("42")
        terminal.wait_for("In [2]: ")
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_blocks_end_with_a_blank_line(self):
        terminal = self.prompt()
        terminal.send("for i in range(2):\r")
        terminal.wait_for("...: ")
        terminal.send("print('line', i)\r")
        terminal.wait_for("...: ")
        terminal.send("\r")
        terminal.wait_for("line 0")
        terminal.wait_for("line 1")

    def test_a_cell_magic_waits_for_its_body(self):
        path = os.path.join(self.state, "notes.txt")
        with open(path, "w", encoding="utf-8") as file:
            file.write("kept until then")
        terminal = self.prompt()
        terminal.send(f"%%writefile {path}\r")
        terminal.wait_for("...: ")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "kept until then")
        terminal.send("new (text\r")
        terminal.wait_for("...: ")
        terminal.send("\r")
        terminal.wait_for("Overwriting")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read().rstrip(), "new (text")

    def test_a_bracket_does_not_keep_a_shell_line_open(self):
        terminal = self.prompt()
        terminal.send("!echo a [b\r")
        terminal.wait_for("\na [b\r\n")

    def test_ctrl_c_interrupts_the_cell_and_keeps_the_prompt_and_the_state(self):
        terminal = self.prompt()
        terminal.send("x = 7; print('go'); import time; time.sleep(600)\r")
        terminal.wait_for("go\r\n")
        terminal.send("\x03")
        terminal.wait_for("KeyboardInterrupt")
        terminal.wait_for("]: ")
        terminal.send("x * 6\r")
        terminal.wait_for("42")

    def test_ctrl_c_at_the_prompt_gives_up_the_line(self):
        terminal = self.prompt()
        terminal.send("half of a li")
        terminal.wait_for("li")
        terminal.send("\x03")
        terminal.wait_for("]: ")
        terminal.send("'fine'\r")
        terminal.wait_for("'fine'\r\n")

    def test_a_crash_is_said_and_the_prompt_goes_on(self):
        terminal = self.prompt()
        terminal.send("import os; os._exit(9)\r")
        terminal.wait_for("exited with code 9")
        terminal.wait_for("]: ")
        terminal.send("1 + 1\r")
        terminal.wait_for("2\r\n")

    def test_exit_leaves_with_the_code(self):
        terminal = self.prompt()
        terminal.send("exit(5)\r")
        self.assertEqual(terminal.exit_code(), 5)

    def test_exit_does_not_take_along_what_was_printed_before_it(self):
        terminal = self.prompt()
        terminal.send("import time; [print(i) for i in range(100)]; time.sleep(0.02); print('LA' 'ST'); exit()\r")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertIn(b"\r\nLAST\r\n", terminal.output)
        self.assertNotIn(b"SystemExit", terminal.output)

    def test_exit_says_why_if_it_is_told(self):
        for call, code, shown in (("sys.exit('no ' 'room')", 1, b"no room\r\n"), ("exit(300)", 44, b"")):
            terminal = self.prompt()
            terminal.send(f"import sys; {call}\r")
            self.assertEqual(terminal.exit_code(), code)
            # On a line of its own, also after the status line of a slow cell.
            self.assertRegex(terminal.output, rb"(?:\r\n|\x1b\[J)" + re.escape(shown + b"\x1b[?2004l") + rb"\Z")

    def test_leaving_runs_the_exit_handlers_of_branches_too(self):
        terminal = self.prompt()
        terminal.send("import atexit; _ = atexit.register(print, 'main ' 'left')\r")
        terminal.wait_for("In [2]: ")
        terminal.send(":branch b\r")
        terminal.wait_for("In [2]: ")
        terminal.send(":switch b\r")
        terminal.wait_for("b In [2]: ")
        terminal.send("atexit.unregister(print); _ = atexit.register(print, 'b ' 'left')\r")
        terminal.wait_for("b In [3]: ")
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertIn(b"main left\r\n", terminal.output)
        self.assertIn(b"b left\r\n", terminal.output)

    def test_what_an_exit_handler_prints_needs_no_line_end_to_be_shown(self):
        terminal = self.prompt()
        terminal.send("import atexit; _ = atexit.register(print, 'le' 'ft', end='')\r")
        terminal.wait_for("In [2]: ")
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertIn(b"left\r\n", terminal.output)

    def in_background(self, statement):
        """A prompt at which a thread has executed the statement while no cell runs."""
        gate = os.path.join(self.state, "gate")
        terminal = self.prompt()
        code = f"{until_there(gate)}\n{statement}"
        terminal.send(f"import threading; threading.Thread(target=exec, args=({code!r}, {{}}), daemon=True).start()\r")
        terminal.wait_for("In [2]: ")
        os.mkdir(gate)
        return terminal

    def test_background_output_without_line_ends_is_shown(self):
        terminal = self.in_background("print('x' * 70_000, end='')")
        terminal.wait_for("x" * 4000 + "…\r\n")
        terminal.wait_for("In [2]: ")

    def test_background_output_of_the_two_streams_is_not_one_line(self):
        terminal = self.in_background("import sys; print('o' 'ut', end='', flush=True); print('e' 'rr', file=sys.stderr)")
        terminal.wait_for("out\r\n")
        terminal.wait_for("err\r\n")

    def test_a_history_of_many_megabytes_is_read_and_kept(self):
        path = os.path.join(self.state, "cellar", "history", "%")
        os.makedirs(os.path.dirname(path), 0o700)
        with open(path, "w") as file:
            file.write(("x" * 100_000 + "\n") * 700 + "'remember me'\n")
        terminal = Terminal(self, "repl")
        self.assertNotIn("cellar: ", terminal.wait_for("In [1]: "))
        terminal.send("\x1b[A")
        terminal.wait_for("'remember me'")
        terminal.send("\x01str(6 * 7) + \r")
        terminal.wait_for("In [2]: ")
        with open(path) as file:
            self.assertEqual(file.read().splitlines()[-2:], ["'remember me'", "str(6 * 7) + 'remember me'"])
        self.assertLess(os.path.getsize(path), 64 << 20)

    def test_the_history_lasts(self):
        terminal = self.prompt()
        terminal.send("'remember me'\r")
        terminal.wait_for("In [2]: ")
        terminal.send("\x04")
        terminal.exit_code()
        again = self.prompt()
        again.send("\x1b[A")
        again.wait_for("'remember me'")

    def test_what_is_typed_is_highlighted(self):
        self.env["NO_COLOR"] = ""
        terminal = self.prompt()
        terminal.send("def f(): return 'x'")
        terminal.wait_for("\x1b[35mdef\x1b[0m \x1b[1;34mf\x1b[0m(): \x1b[35mreturn\x1b[0m \x1b[32m'x'\x1b[0m")

    def test_source_that_is_asked_for_is_highlighted(self):
        self.env["NO_COLOR"] = ""
        terminal = self.prompt()
        terminal.send("def f(): return 'x'\r\r")
        terminal.wait_for("[2]")
        terminal.send("f??\r")
        terminal.wait_for("Source:\r\n\x1b[35mdef\x1b[0m \x1b[1;34mf\x1b[0m(): "
                          "\x1b[35mreturn\x1b[0m \x1b[32m'x'\x1b[0m\r\n")
        terminal.wait_for("[3]")

    def test_no_colour_when_the_user_wants_none(self):
        terminal = self.prompt()
        terminal.send("def f(): return 'x'")
        terminal.wait_for("def f(): return 'x'")

    def test_ctrl_d_asks_before_it_drops_what_is_typed(self):
        terminal = self.prompt()
        terminal.send("x = 1\x04")
        terminal.wait_for("[y/N]")
        terminal.send("n")
        terminal.send("; x + 41\r")
        terminal.wait_for("In [2]: ")
        terminal.send("x")
        self.leave(terminal)

    def test_ctrl_d_asks_before_it_ends_a_cell(self):
        terminal = self.prompt()
        terminal.send("print('go'); import time; time.sleep(600)\r")
        terminal.wait_for("go\r\n")
        self.leave(terminal)

    def test_ctrl_c_cancels_an_awaiting_cell(self):
        terminal = self.prompt()
        terminal.send("import asyncio; print('go'); await asyncio.sleep(600)\r")
        terminal.wait_for("go\r\n")
        terminal.send("\x03")
        terminal.wait_for("state kept")
        terminal.wait_for("]: ")

    def test_keys_typed_while_a_cell_runs_wait_for_the_prompt(self):
        terminal = self.prompt()
        terminal.send("print('go'); import time; time.sleep(0.5)\r")
        terminal.wait_for("go\r\n")
        terminal.send("6 * 7\r")
        terminal.wait_for("42\r\n")

    def test_the_history_is_private(self):
        terminal = self.prompt()
        terminal.send("'secret'\r")
        terminal.wait_for("In [2]: ")
        terminal.send("\x04")
        terminal.exit_code()
        directory = os.path.join(self.state, "cellar", "history")
        self.assertEqual(stat.S_IMODE(os.stat(directory).st_mode), 0o700)
        for name in os.listdir(directory):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(directory, name)).st_mode), 0o600)

    def test_a_terminal_that_cannot_move_its_cursor(self):
        self.env["TERM"] = "dumb"
        terminal = self.prompt()
        terminal.send("for i in range(2):\r")
        terminal.wait_for("...: ")
        terminal.send("    print('line', i)\r")
        terminal.wait_for("...: ")
        terminal.send("\r")
        before = terminal.wait_for("line 1\r\n") + terminal.wait_for("In [2]: ")
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertNotIn("\x1b", before + terminal.output.decode())

    def test_leaving_such_a_terminal_leaves_the_line(self):
        self.env["TERM"] = "dumb"
        terminal = self.prompt()
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertEqual(terminal.output, b"\r\n")

    def test_text_that_is_not_ascii_is_kept_whatever_the_locale(self):
        for variable in ("LC_ALL", "LC_CTYPE", "LANG"):
            for locale in ("C", "POSIX"):
                self.env.pop("LANG", None)
                terminal = self.prompt(env={variable: locale})
                terminal.send("é = 1; 'ü日\x7f' + str(é)\r")
                terminal.wait_for("'ü1'\r\n")
                terminal.wait_for("In [2]: ")
                terminal.send("import os; os.environ.get('LC_ALL'), '\x1b[200~日é\x1b[201~\x7f'\r")
                terminal.wait_for(f"({locale if variable == 'LC_ALL' else None!r}, '日')\r\n")

    def test_characters_that_turn_text_around_are_kept(self):
        terminal = self.prompt()
        terminal.send("len('a\u200fb'), len('\x1b[200~a\u202eb\x1b[201~'), len(input('? '))\r")
        self.assertNotIn("\u200f", terminal.wait_for("? "))
        terminal.send("\u2066ab\r")
        terminal.wait_for("(3, 3, 3)")

    def test_images_are_drawn_where_the_terminal_says_that_it_can(self):
        terminal = Terminal(self, "repl")
        terminal.wait_for("\x1b[c")
        terminal.send("6 * \x1b[?62;4;22c7\r")
        terminal.wait_for("6 * 7")
        terminal.wait_for("42\r\n")
        terminal.send(SHOW_DOT)
        terminal.wait_for('\x1bP0;1q"1;1;1;1#0;2;100;0;0#0@$-\x1b\\\r\n')
        terminal.wait_for("]: ")

    def test_images_are_saved_where_it_says_that_it_cannot_or_nothing(self):
        for answer in ("\x1b[?1;2c", ""):
            terminal = Terminal(self, "repl")
            terminal.wait_for("\x1b[c")
            terminal.send(answer + SHOW_DOT)
            terminal.wait_for("[image/png, 69 bytes: ")
            with open(terminal.wait_for("]"), "rb") as file:
                self.assertEqual(file.read(4), b"\x89PNG")

    def test_an_escape_typed_before_the_terminal_has_answered_is_a_key(self):
        terminal = self.prompt()
        terminal.send("'xy'\x1b")
        terminal.wait_for("'xy'")
        terminal.send("b")  # Alt-B: a word back
        terminal.send("a\r")
        terminal.wait_for("'axy'\r\n")

    def test_it_needs_a_terminal(self):
        code, out, err = self.run_cellar("repl")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("needs a terminal", err)


CELL = """\
def area(width, height):
    size = width * heigth
    return size

print(area(6, 7))"""
TYPED = """\
In [1]: def area(width, height):
   ...:     size = width * heigth
   ...:     return size
   ...:
   ...: print(area(6, 7))"""


class OnScreen(AtPrompt, ProgramTest):
    """What needs a screen to be seen."""

    def test_line_2_of_a_five_line_cell_is_edited_and_the_cell_recalled_as_one_block(self):
        screen = self.screen()
        screen.paste(CELL)
        screen.wait_for(TYPED)
        screen.keys("Up", "Up", "Up", "End", "BSpace", "BSpace", "ht", "Enter")
        fixed = TYPED.replace("heigth", "height")
        screen.wait_for(fixed + "\n42\nIn [2]:")
        screen.enter("'between'", "In [3]:")
        screen.keys("Up", "Up")
        screen.wait_for(fixed.replace("In [1]", "In [3]"))
        screen.keys("Enter")
        screen.wait_for("\n42\nIn [4]:")

    def test_cells_know_how_wide_the_terminal_is(self):
        width = "import shutil; shutil.get_terminal_size().columns"
        screen = self.screen(columns=120)
        screen.enter("import os", "In [2]:")
        screen.enter(width, "\n120\nIn [3]:")
        screen.resize(100, 24)
        screen.enter(width, "\n100\nIn [4]:")
        screen.enter(":rewind 3", "In [3]:")
        screen.enter(width, "\n100\nIn [4]:")
        screen.enter("list(range(10**8, 10**8 + 9))", f"\n{list(range(10**8, 10**8 + 9))}\nIn [5]:")
        screen.enter("os.environ['COLUMNS'] = '50'", "\nIn [6]:")
        screen.enter(width, "\n50\nIn [7]:")

    def test_tab_knows_the_commands_and_their_files(self):
        for name in ("sales.csv", "sales 2.csv", "notes/plan.py"):
            os.makedirs(os.path.dirname(os.path.join(self.state, name)), exist_ok=True)
            open(os.path.join(self.state, name), "w").close()
        screen = self.screen(env={"HOME": self.state})
        screen.keys(":re", "Tab")
        screen.wait_for("In [1]: :re\nreset   rewind")
        screen.keys("w", "Tab")
        screen.wait_for("In [1]: :rewind")
        screen.keys("C-u", ":load ~/sa", "Tab")
        screen.wait_for("In [1]: :load ~/sales\nsales 2.csv  sales.csv")
        screen.keys(" ", "Tab")
        screen.wait_for("In [1]: :load ~/sales 2.csv")
        screen.keys("C-u", ":save ~/n", "Tab", "Tab")
        screen.wait_for("In [1]: :save ~/notes/plan.py")
        screen.keys("C-u", ":reset ~/n", "Tab")
        screen.wait_for("In [1]: :reset ~/n")

    def test_a_typed_block_is_indented_and_ends_with_a_blank_line(self):
        screen = self.screen()
        screen.keys("for i in range(2):", "Enter", "if i:", "Enter", "print('line', i)")
        screen.wait_for("In [1]: for i in range(2):\n   ...:     if i:\n   ...:         print('line', i)")
        screen.keys("Enter", "Enter")
        screen.wait_for("print('line', i)\nline 1\nIn [2]:")

    def test_a_paste_loses_its_prompts_and_does_not_run(self):
        screen = self.screen()
        screen.paste(">>> x = 1\n>>> for i in range(2):\n...     x += i\n...\n>>> x")
        screen.wait_for("In [1]: x = 1\n   ...: for i in range(2):\n   ...:     x += i\n   ...:\n   ...: x")
        screen.keys("Enter")
        screen.wait_for("\n2\nIn [2]:")

    def test_a_pasted_transcript_loses_its_output(self):
        screen = self.screen()
        screen.paste('>>> print("hello world")\nhello world\n>>> 6 * 7\n42\n')
        screen.wait_for('In [1]: print("hello world")\n   ...: 6 * 7')
        screen.keys("Enter")
        screen.wait_for("\nhello world\n42\nIn [2]:")

    def test_search_finds_a_cell_by_any_of_its_lines(self):
        screen = self.screen()
        screen.paste("first = 1\nsecond = 2")
        screen.keys("Enter")
        screen.wait_for("In [2]:")
        screen.enter("3 + 4", "In [3]:")
        screen.keys("C-r", "seco")
        screen.wait_for("(reverse-i-search)`seco': first = 1\n   ...: second = 2")
        screen.keys("C-e")
        screen.wait_for("In [3]: first = 1\n   ...: second = 2")

    def test_alt_enter_adds_a_line_to_a_whole_cell(self):
        screen = self.screen()
        screen.keys("x = 40", "M-Enter", "x + 2", "Enter")
        screen.wait_for("In [1]: x = 40\n   ...: x + 2\n42\nIn [2]:")

    def test_forty_columns_and_wide_characters(self):
        screen = self.screen(columns=40, rows=12)
        screen.keys("'" + "日本" * 9 + "'")
        screen.wait_for("In [1]: '日本日本日本日本日本日本日本日\n本日本'")
        screen.keys("BSpace", "BSpace", "'")
        screen.wait_for("\n本日'")

    def test_the_block_follows_the_width_of_the_terminal(self):
        screen = self.screen(columns=60, rows=12)
        screen.keys("x = '" + "0123456789" * 4 + "'")
        screen.wait_for("In [1]: x = '0123456789012345678901234567890123456789'")
        screen.resize(30, 12)
        screen.wait_for("In [1]: x = '01234567890123456\n78901234567890123456789'")
        screen.resize(60, 12)
        screen.wait_for("In [1]: x = '0123456789012345678901234567890123456789'")
        self.assertEqual(screen.text().count("In [1]"), 1)

    def test_background_output_comes_above_what_is_typed(self):
        screen = self.screen()
        screen.paste("import asyncio\nasync def later():\n    await asyncio.sleep(1)\n    print('from behind')\n"
                     "task = asyncio.create_task(later())")
        screen.keys("Enter")
        screen.wait_for("In [2]:")
        screen.keys("typed")
        screen.wait_for("\nfrom behind\nIn [2]: typed")

    def test_a_progress_bar_is_redrawn(self):
        screen = self.screen()
        screen.enter("for i in range(5): print(f'\\r{i * 25} %', end='', flush=True)", "\n100 %\nIn [2]:")

    def test_tab_completes_from_the_live_session(self):
        screen = self.screen()
        screen.enter("def compute(first, second=2): return first + second", "In [2]:")
        screen.keys("compu", "Tab")
        screen.wait_for("In [2]: compute\ncompute(first, second=2)")
        screen.enter("(40)", "In [2]: compute(40)\n42\nIn [3]:")
        screen.keys("''.is", "Tab")
        screen.wait_for("istitle       isupper")
        screen.keys("upp", "Tab")
        screen.wait_for("In [3]: ''.isupper\nisupper(self, /)")

    def test_a_question_mark_tells_what_something_is(self):
        screen = self.screen()
        screen.enter("def compute(first): 'Says what it does.'", "In [2]:")
        screen.enter("compute?", "In [3]:")
        self.assertIn("Says what it does.", screen.text())

    def test_input_is_asked_for_in_the_line_that_the_cell_began(self):
        screen = self.screen()
        screen.enter("name = input('who? '); name.upper()", "\nwho?")
        screen.keys("Adam")
        screen.wait_for("\nwho? Adam")
        time.sleep(1.2)  # when a cell that takes long would say so
        screen.wait_for("\nwho? Adam")
        screen.keys("BSpace", "Enter")
        screen.wait_for("In [2]:")
        self.assertIn("\nwho? Ada\n'ADA'\n", screen.text())

    def test_a_long_question_of_a_cell_is_shown_once(self):
        screen = self.screen(columns=60)
        screen.enter("input('abcdefghij' * 9 + '? ')", "\n" + "abcdefghij" * 6 + "\n" + "abcdefghij" * 3 + "?")
        self.assertEqual(screen.text().count("\nabcdefghij"), 2)

    def test_a_password_is_not_shown(self):
        screen = self.screen()
        screen.enter("import getpass; secret = getpass.getpass('word: '); secret == 'sesame'", "\nword:")
        screen.enter("sesame", "\nword:\nTrue\nIn [2]:")

    def test_ctrl_c_interrupts_a_cell_that_asks_and_ctrl_d_ends_its_input(self):
        screen = self.screen()
        screen.enter("input('who? ')", "\nwho?")
        screen.keys("C-c")
        screen.wait_for("state kept\nIn [2]:")
        screen.enter("input('again? ')", "\nagain?")
        screen.keys("C-d")
        screen.wait_for("In [3]:")
        self.assertIn("EOFError", screen.text())

    def test_long_output_is_collapsed_and_expanded(self):
        screen = self.screen(rows=60)
        screen.keys("for i in range(100): print('line', i)", "Enter")
        tail = "".join(f"\nline {i}" for i in range(80, 100))
        screen.wait_for(f"\nline 19\n… 60 lines left out; :expand shows all{tail}\nIn [2]:")
        screen.enter(":expand", "".join(f"\nline {i}" for i in range(45, 100)) + "\nIn [2]:")

    def test_a_long_result_is_collapsed_too(self):
        screen = self.screen(rows=60)
        screen.keys("list(range(10_000, 10_500))", "Enter")
        screen.wait_to_show("\n 10019,\n… 460 lines left out; :expand shows all\n 10480,\n")

    def test_a_data_frame_is_a_table(self):
        if importlib.util.find_spec("pandas") is None:
            self.skipTest("pandas is not installed")
        screen = self.screen()
        screen.keys("import pandas; pandas.DataFrame({'city': ['Lisbon', 'Porto'], 'n': [1, 2]})", "Enter")
        screen.wait_to_show("\n     city  n\n0  Lisbon  1\n1   Porto  2\n")

    def test_collapsed_output_follows_the_width_of_the_terminal(self):
        screen = self.screen(rows=60)
        screen.keys("for i in range(100): print('line', i, 'x' * 60)", "M-Enter", "import time; time.sleep(600)", "Enter")
        screen.wait_to_show("line 99")
        screen.wait_to_match(r"x\n\S \d+\.\d s")
        screen.resize(50, 60)
        screen.wait_to_show("line 99 " + "x" * 41 + "…")
        wait_until(lambda: screen.text().count("lines left out") == 1, "nothing is left of the wider one")
        self.assertEqual(screen.text().count("line 99"), 1)
        screen.keys("C-c")
        screen.wait_to_match(r"state kept\n(took .*\n)?In \[2\]:$")

    def test_the_help_is_broken_between_words(self):
        screen = self.screen(columns=40, rows=50)
        screen.keys(":help", "Enter")
        screen.wait_to_show("\n:save FILE    the cells so far, as\n              .ipynb with outputs or as\n"
                            "              .py; asks before it\n              replaces another file\n")

    def test_json_is_a_folded_tree_that_expand_unfolds(self):
        screen = self.screen()
        screen.enter("display({'name': 'n' * 60, 'deep': {'er': {'est': [1, 2]}}})",
                     '  "deep": {\n    "er": {… 1 key}\n  }\n}\nIn [2]:')
        screen.enter(":expand", '    "er": {\n      "est": [\n        1,\n        2\n      ]\n    }\n  }\n}\nIn [2]:')

    def test_a_cell_that_takes_long_says_how_it_is(self):
        screen = self.screen()
        screen.keys("import time; log('begun'); phase('sleeping'); time.sleep(2)", "Enter")
        screen.wait_to_match(r"s  sleeping$")
        screen.wait_to_match(r"\n· begun\ntook 2\.\d s\nIn \[2\]:$")

    def test_cells_are_saved_with_outputs_and_loaded_again(self):
        path = os.path.join(self.state, "cells.ipynb")
        screen = self.screen()
        screen.enter("x = 6", "In [2]:")
        screen.enter("x * 7", "In [3]:")
        screen.enter(f":save {path}", "In [3]:")
        wait_until(lambda: os.path.exists(path), "the file is there")
        with open(path) as file:
            cells = json.load(file)["cells"]
        self.assertEqual(["".join(cell["source"]) for cell in cells], ["x = 6", "x * 7"])
        self.assertEqual(cells[1]["outputs"][0]["data"]["text/plain"], ["42"])
        screen.enter(":reset", "cellar: a fresh namespace\nIn [1]:")
        screen.enter("'x' in globals()", "False\nIn [2]:")
        screen.enter(f":load {path}", "In [2]: x = 6\nIn [3]: x * 7\n42\nIn [4]:")

    def test_a_file_that_exists_is_replaced_only_after_a_question(self):
        path = os.path.join(self.state, "a.py")
        with open(path, "w") as file:
            file.write("precious = 1\n")
        screen = self.screen(columns=200)
        screen.enter("7", "In [2]:")
        screen.enter(f":save {path}", f"In [2]:\n{path} exists; replace it? [y/N]")
        screen.enter("n'no'", "\n'no'\nIn [3]:")  # what is typed behind the answer is typed
        with open(path) as file:
            self.assertEqual(file.read(), "precious = 1\n")
        screen.enter(f":save {path}", "[y/N]")
        screen.keys("y")
        screen.wait_for(f"cellar: 2 cells saved in {path}\nIn [3]:")
        with open(path) as file:
            self.assertNotIn("precious", file.read())
        screen.enter("8", "In [4]:")
        screen.enter(f":save {path}", f"cellar: 3 cells saved in {path}\nIn [4]:")  # it is this prompt's own
        with open(path, "a") as file:
            file.write("# by hand\n")
        screen.enter(f":save {path}", f"In [4]:\n{path} exists; replace it? [y/N]")
        screen.keys("Up")
        screen.wait_for(f"\nIn [4]: :save {path}")

    def test_a_tilde_is_the_home_directory(self):
        self.env["HOME"] = self.state
        screen = self.screen(columns=200)
        screen.enter("x = 6", "In [2]:")
        screen.enter(":save ~/a.py", f"cellar: 1 cell saved in {self.state}/a.py\nIn [2]:")
        screen.enter(":load ~/a.py", "In [2]: x = 6\nIn [3]:")
        screen.enter(":save ~/no/a.py", f"cellar: writing {self.state}/no/a.py: No such file or directory\nIn [3]:")

    def test_a_name_that_cannot_be_saved_is_said_without_a_question(self):
        path = os.path.join(self.state, "notes.txt")
        open(path, "w").close()
        screen = self.screen()
        screen.enter(f":save {path}", "cellar: give the file a name in .ipynb or .py\nIn [1]:")

    def wait_for_snapshot(self, screen):
        """It is taken when the session has been idle for a moment; a rewind that is refused names those there are."""
        def is_kept():
            screen.enter(":rewind 9", "In [2]:")
            return "the kept ones stand before 2" in screen.text()
        wait_until(is_kept, "a snapshot before cell 2")

    def test_undo_rewind_and_branch(self):
        screen = self.screen()
        screen.enter("x = [1]", "In [2]:")
        self.wait_for_snapshot(screen)
        screen.enter("x.append(2)", "In [3]:")
        screen.enter(":undo", "cellar: the state is that of before cell 2\nIn [2]:")
        screen.enter("x", "\n[1]\nIn [3]:")
        screen.enter(":branch other", ":switch other goes there\nIn [3]:")
        screen.enter(":switch other", "other In [3]:")
        screen.enter("x.append(3); x", "\n[1, 3]\nother In [4]:")
        screen.enter(":switch main", "\nIn [3]:")
        screen.enter("x", "\n[1]\nIn [4]:")
        screen.enter(":rewind 2", "before cell 2\nIn [2]:")

    def test_undo_of_the_first_cell_is_a_fresh_namespace(self):
        path = os.path.join(self.state, "cells.py")
        screen = self.screen(columns=200)
        screen.enter(":undo", "cellar: no cell was run yet\nIn [1]:")
        screen.enter("before = 1", "In [2]:")
        screen.enter(":reset", "In [1]:")
        screen.enter("x = 1", "In [2]:")
        screen.enter(":undo", "cellar: the state is that of before cell 1: a fresh namespace\nIn [1]:")
        screen.enter("'x' in globals()", "False\nIn [2]:")
        screen.enter(f":save {path}", f"cellar: 2 cells saved in {path}\nIn [2]:")
        with open(path) as file:
            self.assertNotIn("x = 1", file.read())

    def test_undo_without_a_snapshot_says_what_can_be_done(self):
        self.env["CELLAR_SNAPSHOTS"] = "off"
        screen = self.screen()
        screen.enter("x = 1", "In [2]:")
        screen.enter("x = 2", "In [3]:")
        screen.enter(":undo", "cellar: no snapshot stands before the last cell; :reset starts afresh\nIn [3]:")

    def test_an_unknown_command_is_said(self):
        screen = self.screen()
        screen.enter(":nothing", "cellar: no command :nothing; :help lists them\nIn [1]:")


if __name__ == "__main__":
    unittest.main()
