"""What tests of the prompt have in common: a place for its history, and the prompt on a terminal or a screen."""
import tempfile

from program import Screen, Terminal

SLEEP = r"import time; print('on\n', end='', flush=True); time.sleep(600)"  # one write


class AtPrompt:
    """For a test of the program; `command` is what starts the prompt."""

    command = ("repl",)

    def setUp(self):
        super().setUp()
        state = tempfile.TemporaryDirectory()
        self.addCleanup(state.cleanup)
        self.state = self.env["XDG_STATE_HOME"] = state.name

    def prompt(self, **options):
        terminal = Terminal(self, *self.command, **options)
        terminal.wait_for("]: ")
        return terminal

    def leave(self, terminal):
        """Ctrl-D, and yes to the question whether what is typed or runs may be dropped."""
        terminal.send("\x04")
        terminal.wait_for("[y/N]")
        terminal.send("y")
        self.assertEqual(terminal.exit_code(), 0)

    def screen(self, at="In [1]:", **options):
        screen = Screen(self, *self.command, **options)
        screen.wait_for(at)
        return screen
