"""What earlier cells have started prints and shows things between commands: who is told of it, and where it goes."""
import json
import os
import tempfile
import unittest

from program import wait_until
from test_daemon import DaemonTest

# A thread that waits for {gate}, prints and displays, and says that it has.
SHOWS = """import os, threading, time
def late():
    while not os.path.exists({gate!r}): time.sleep(0.01)
    print('text'); display({{'shown': 1}}); print('end')
    os.mkdir({gate!r} + '.done')
threading.Thread(target=late, daemon=True).start()"""
TICKS = """import threading, time
def tick():
    while True: print('tick', flush=True); time.sleep(0.001)
threading.Thread(target=tick, daemon=True).start()"""


class BackgroundTest(DaemonTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.notebook = os.path.join(self.folder.name, "a.ipynb")

    def show_between_commands(self):
        gate = os.path.join(self.folder.name, "gate")
        self.run_in_session(SHOWS.format(gate=gate))
        os.mkdir(gate)
        wait_until(lambda: os.path.exists(gate + ".done"), "text and display shown")
        self.run_cellar("sessions")  # by then the daemon has read it

    def write_notebook(self, *cells):
        with open(self.notebook, "w") as file:
            json.dump({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, file)

    def read_cells(self):
        with open(self.notebook) as file:
            return json.load(file)["cells"]


CODE = {"cell_type": "code", "source": "1", "metadata": {}, "execution_count": 7,
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "precious\n"}]}
MARKDOWN = {"cell_type": "markdown", "source": "text", "metadata": {}}


class Background(BackgroundTest):
    def test_text_and_displays_come_with_the_next_command(self):
        self.show_between_commands()
        self.assertEqual(self.run_in_session("2"), (0, "text\n{'shown': 1}\nend\n2\n", ""))
        self.assertEqual(self.run_in_session("3"), (0, "3\n", ""))

    def test_a_watcher_sees_displays_too(self):
        client = self.connect_to_new_daemon()
        client.send(id="w", type="watch", session="work")
        client.next_frame("w", "state")
        self.show_between_commands()
        frame = client.next_frame("w", "display")
        self.assertEqual((frame["data"]["application/json"], frame["background"]), ({"shown": 1}, True))

    def test_a_notebook_that_is_run_shows_it_and_does_not_keep_it(self):
        self.write_notebook(CODE)
        self.show_between_commands()
        code, out, err = self.run_cellar("notebook", "run", "-s", "work", self.notebook)
        self.assertEqual((code, err), (0, ""))
        self.assertTrue(out.startswith("text\n{'shown': 1}\nend\n[1/1] cell 0: ok"), out)
        self.assertEqual([output["output_type"] for output in self.read_cells()[0]["outputs"]], ["execute_result"])
        self.assertEqual(self.run_in_session("2"), (0, "2\n", ""))

    def test_a_client_that_wants_no_stream_leaves_it_to_the_next_call(self):
        client = self.connect_to_new_daemon()
        self.write_notebook(CODE)
        self.show_between_commands()
        self.assertEqual(client.ask("notebook.run", file=self.notebook, session="work", stream=False)["status"], "ok")
        self.assertEqual([output["output_type"] for output in self.read_cells()[0]["outputs"]], ["execute_result"])
        self.assertEqual(self.run_in_session("2"), (0, "text\n{'shown': 1}\nend\n2\n", ""))

    def test_text_that_comes_before_the_first_cell_of_a_notebook_belongs_to_none(self):
        self.run_in_session(TICKS)
        for cells in ([], [MARKDOWN], [CODE, MARKDOWN]):
            with self.subTest(cells=len(cells)):
                self.write_notebook(*cells)
                for _ in range(10):
                    ran = self.run_cellar("notebook", "run", "-s", "work", "--from", str(len(cells) - 1 if cells else 0),
                                          self.notebook)
                    self.assertIn(ran[0], (0, 2), ran)
                self.assertEqual(self.read_cells(), list(cells))


if __name__ == "__main__":
    unittest.main()
