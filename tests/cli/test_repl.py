"""`cellar repl`, and `cellar` without arguments, on a real terminal."""
import tempfile
import unittest

from program import ProgramTest, Terminal


class Repl(ProgramTest):
    def setUp(self):
        super().setUp()
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.env["XDG_STATE_HOME"] = state.name
        self.env["NO_COLOR"] = "1"

    def prompt(self, *args):
        terminal = Terminal(self, *args)
        terminal.wait_for(">>> ")
        return terminal

    def test_it_is_what_the_program_does_on_a_terminal(self):
        terminal = self.prompt()
        terminal.send("40 + 2\r")
        terminal.wait_for("42")
        terminal.wait_for(">>> ")
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)

    def test_blocks_end_with_a_blank_line(self):
        terminal = self.prompt("repl")
        terminal.send("for i in range(2):\r")
        terminal.wait_for("... ")
        terminal.send("    print('line', i)\r")
        terminal.wait_for("... ")
        terminal.send("\r")
        terminal.wait_for("line 0")
        terminal.wait_for("line 1")

    def test_ctrl_c_interrupts_the_cell_and_keeps_the_prompt_and_the_state(self):
        terminal = self.prompt("repl")
        terminal.send("x = 7; print('go'); import time; time.sleep(600)\r")
        terminal.wait_for("go\r\n")
        terminal.send("\x03")
        terminal.wait_for("KeyboardInterrupt")
        terminal.wait_for(">>> ")
        terminal.send("x * 6\r")
        terminal.wait_for("42")

    def test_ctrl_c_at_the_prompt_gives_up_the_line(self):
        terminal = self.prompt("repl")
        terminal.send("half of a li")
        terminal.wait_for("li")
        terminal.send("\x03")
        terminal.wait_for(">>> ")
        terminal.send("'fine'\r")
        terminal.wait_for("'fine'\r\n'fine'")

    def test_a_crash_is_said_and_the_prompt_goes_on(self):
        terminal = self.prompt("repl")
        terminal.send("import os; os._exit(9)\r")
        terminal.wait_for("exited with code 9")
        terminal.wait_for(">>> ")
        terminal.send("1 + 1\r")
        terminal.wait_for("2\r\n")

    def test_exit_leaves_with_the_code(self):
        terminal = self.prompt("repl")
        terminal.send("exit(5)\r")
        self.assertEqual(terminal.exit_code(), 5)

    def test_the_history_lasts(self):
        terminal = self.prompt("repl")
        terminal.send("'remember me'\r")
        terminal.wait_for(">>> ")
        terminal.send("\x04")
        terminal.exit_code()
        again = self.prompt("repl")
        again.send("\x1b[A")
        again.wait_for("'remember me'")

    def test_it_needs_a_terminal(self):
        code, out, err = self.run_cellar("repl")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("needs a terminal", err)


if __name__ == "__main__":
    unittest.main()
