"""`notebook.*` requests of the line protocol, and `cellar notebook run --session`."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest

from line_client import LineClient
from program import DEADLINE_S, ProgramTest, prints_when_there, until_there, wait_until
from test_daemon import DaemonTest


class NotebookTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.folder = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "a.ipynb")

    def make(self, *sources, tags=()):
        """Writes a notebook of these code cells; those in `tags` may raise."""
        cells = [{"cell_type": "code", "execution_count": None, "id": f"c{i}", "outputs": [], "source": source,
                  "metadata": {"tags": ["raises-exception"]} if i in tags else {}} for i, source in enumerate(sources)]
        with open(self.path, "w") as file:
            json.dump({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, file, indent=1)

    def cells(self, path=None):
        with open(path or self.path) as file:
            return json.load(file)["cells"]

    def texts(self, path=None):
        """What each cell printed."""
        return ["".join("".join(output.get("text", [])) for output in cell.get("outputs", [])) for cell in self.cells(path)]


class ServedNotebookTest(NotebookTest):
    def setUp(self):
        super().setUp()
        self.process = self.start("serve", stdin=subprocess.PIPE, bufsize=0)
        self.client = LineClient(self.process.stdin, self.process.stdout)

    def ask(self, name, **fields):
        """The answer to a request about a.ipynb, by its name relative to the client's directory."""
        return self.client.ask(f"notebook.{name}", **{"cwd": self.folder, "file": "a.ipynb", **fields})


class Files(ServedNotebookTest):
    def test_new_insert_show_edit_delete(self):
        self.assertEqual(self.ask("new"), {"type": "done", "id": "ask", "status": "ok"})
        self.assertEqual(self.ask("new")["error"]["ename"], "Conflict")
        inserted = self.ask("insert", cell=0, source="print(1)")
        self.assertEqual(inserted["summary"], "Inserted code cell 0; the notebook has 1 cell")
        self.assertEqual((inserted["details"]["action"], inserted["details"]["total"]), ("insert", 1))
        self.ask("insert", cell=1, source="# T", cell_type="markdown")
        shown = self.ask("show")
        self.assertEqual(shown["text"], "# %% [code] cell:0\nprint(1)\n# %% [markdown] cell:1\n# T\n")
        self.assertEqual(self.ask("show", lines="2")["text"], "print(1)\n")
        self.assertEqual(self.ask("edit", cell=inserted["details"]["id"], source="x", base=shown["hash"])["status"], "ok")
        self.assertEqual(self.ask("edit", cell=0, source="y", base=shown["hash"])["error"]["ename"], "Conflict")
        self.assertEqual(self.ask("delete", cell=1)["details"]["source"], "# T")
        self.assertEqual(self.ask("show")["text"], "# %% [code] cell:0\nx\n")

    def test_apply_clear_and_convert(self):
        self.make("print(1)")
        proposed = self.ask("apply", text="# %% [code] cell:0\nprint(2)\n", dry_run=True)
        self.assertIn("-print(1)\n+print(2)\n", proposed["diff"])
        self.assertEqual(self.cells()[0]["source"], "print(1)")
        applied = self.ask("apply", text="# %% [code] cell:0\nprint(2)\n# %% [raw]\nr\n")
        self.assertEqual((applied["changed"], applied["added"], applied["removed"]), (1, 1, 0))
        self.ask("run")
        self.assertEqual(self.texts()[:1], ["2\n"])
        self.assertEqual(self.ask("clear")["status"], "ok")
        self.assertEqual(self.texts()[:1], [""])
        self.assertEqual(self.ask("convert", to="b.py")["status"], "ok")
        with open(os.path.join(self.folder, "b.py")) as script:
            self.assertEqual(self.ask("convert", to="-")["text"], script.read())
        self.assertEqual(self.ask("convert", to="b.py")["error"]["ename"], "Conflict")
        self.assertEqual(self.ask("convert", file="b.py", to="c.ipynb")["status"], "ok")
        self.assertEqual([cell["source"] for cell in self.cells(os.path.join(self.folder, "c.ipynb"))][0], ["print(2)"])

    def test_a_lone_surrogate_that_is_shown_and_put_back_stays_with_its_outputs(self):
        self.make("s = '\ud83d'", "print(1)")
        with open(self.path) as file:
            text = file.read().replace('"outputs": []', '"outputs": [{"name": "stdout", "output_type": "stream", "text": "x"}]', 1)
        with open(self.path, "w") as file:
            file.write(text)
        applied = self.ask("apply", text=self.ask("show")["text"].replace("print(1)", "print(2)"))
        self.assertEqual((applied["changed"], applied["cleared"]), (1, []))
        with open(self.path) as file:
            self.assertEqual(file.read(), text.replace("print(1)", "print(2)"))

    def test_what_cannot_be_is_refused_with_the_file_and_the_place(self):
        for name, fields, words in (
                ("show", {}, f"{self.path}: No such file"), ("show", {"file": ""}, "file: expected the path"),
                ("show", {"cwd": "x"}, "cwd: expected an absolute path"), ("show", {"lines": "x"}, "bad line range x"),
                ("edit", {"cell": 0, "source": "x"}, "No such file"), ("edit", {"cell": 1.5, "source": "x"}, "cell: "),
                ("insert", {"cell": 0, "source": "x", "cell_type": "prose"}, "cell_type: "),
                ("convert", {"to": "b.ipynb"}, "convert goes from"), ("run", {"cells": []}, "cells: "),
                ("run", {"parameters": {"1x": 2}}, "1x"), ("run", {}, "No such file"), ("nope", {}, "type: "),
                ("apply", {"text": "x"}, "line 1"), ("delete", {"cell": 0, "more": 1}, "more: unknown field")):
            with self.subTest(name, **fields):
                answer = self.ask(name, **fields)
                self.assertEqual(answer["status"], "refused")
                self.assertIn(words, answer["error"]["evalue"])

    def test_what_could_keep_the_server_waiting_is_refused(self):
        os.mkfifo(self.path)
        for name, fields in (("show", {}), ("apply", {"text": "# %% [raw]\n"}), ("clear", {}), ("run", {})):
            error = self.ask(name, **fields)["error"]
            self.assertIn("not a regular file", error["evalue"])
            self.assertEqual(error["ename"], "InvalidRequest")


class Runs(ServedNotebookTest):
    def test_frames_come_while_it_runs_and_the_file_has_the_outputs(self):
        self.make("print('a'); x = 1", "x + 1", "1/0", "print('never')")
        self.client.send(id="r", type="notebook.run", file=self.path)
        frames = self.client.frames_of("r")
        self.assertEqual([(f["type"], f.get("cell")) for f in frames], [
            ("plan", None), ("started", 0), ("stdout", 0), ("finished", 0), ("started", 1), ("result", 1),
            ("finished", 1), ("started", 2), ("error", 2), ("finished", 2), ("done", None)])
        self.assertEqual(frames[0]["cells"], [0, 1, 2, 3])
        self.assertEqual(frames[-1], {"type": "done", "id": "r", "status": "error", "cells_run": 3, "cells_failed": 1,
                                      "state_lost": False, "file": self.path})
        self.assertEqual(self.texts(), ["a\n", "", "", ""])
        self.assertEqual([cell["execution_count"] for cell in self.cells()], [1, 2, 3, None])
        self.assertEqual(self.client.ask("sessions")["sessions"], [])  # it had one of its own

    def test_cells_parameters_output_and_session(self):
        self.make("print(n, s, l)", "print('second', k)", "1/0")
        self.client.eval("k = 'kept'", session="work")
        out = os.path.join(self.folder, "out.ipynb")
        done = self.ask("run", output="out.ipynb", cells=[0, "c1"], session="work", stream=False,
                        parameters={"n": 3, "s": "ä\"\n", "l": [True, None, {"a": 1.5}]})
        self.assertEqual((done["status"], done["cells_run"], done["file"]), ("ok", 3, out))
        self.assertEqual(self.texts(out)[1:3], ["3 ä\"\n [True, None, {'a': 1.5}]\n", "second kept\n"])
        self.assertEqual(self.texts(), ["", "", ""])
        self.assertEqual(self.client.value("n", session="work"), "3")
        self.assertEqual(self.ask("run", parameters=["n=4"], cells=[0], session="work")["status"], "ok")
        self.assertEqual(self.client.value("n", session="work"), "4")
        self.assertEqual(self.ask("run", **{"from": 3}, allow_errors=True)["cells_failed"], 1)

    def test_a_cell_that_cannot_be_run_does_not_take_back_those_that_were(self):
        self.make("print('on')", "#" * (81 << 20))  # more than a worker can be sent
        done = self.ask("run")
        self.assertEqual((done["status"], done["cells_run"], done["cells_failed"]), ("error", 1, 0))
        self.assertIn("more than a message to a worker can hold", done["stopped"])
        self.assertEqual(self.texts(), ["on\n", ""])
        code, out, err = self.run_cellar("notebook", "run", self.path)
        self.assertEqual(code, 1)
        self.assertIn("1 cell run, ", out)
        self.assertIn("more than a message to a worker can hold", err)
        self.assertEqual(self.ask("run", cells=[1])["status"], "refused")

    def test_what_a_thread_prints_is_told_while_a_later_cell_runs(self):
        gate = os.path.join(self.folder, "gate")
        self.make(prints_when_there(gate, "late"), until_there(gate + ".printed"), "3")
        self.client.send(id="r", type="notebook.run", file=self.path, session="s")
        self.client.next_frame("r", "finished")
        os.mkdir(gate)
        frame = self.client.next_frame("r", "stdout")
        self.assertEqual((frame["text"], frame["cell"], frame["background"]), ("late\n", 1, True))
        self.assertEqual(self.client.done("r")["status"], "ok")
        self.assertEqual(self.texts(), ["", "late\n", ""])

    def test_what_was_shown_in_the_background_before_the_run_is_not_in_the_file(self):
        self.client.send(id="w", type="watch", session="s")
        gate = os.path.join(self.folder, "gate")
        self.client.value("import asyncio, os\nasync def late():\n"
                          f"    while not os.path.exists({gate!r}): await asyncio.sleep(0.01)\n"
                          "    display({'before': 1}); print('shown')\n"
                          "task = asyncio.ensure_future(late())\nNone", session="s")
        os.mkdir(gate)
        self.assertEqual(self.client.printed("w", until="\n"), "shown\n")
        self.make("print('own')")
        self.assertEqual(self.ask("run", session="s")["status"], "ok")
        self.assertEqual([output["output_type"] for output in self.cells()[0]["outputs"]], ["stream"])
        self.assertEqual(self.texts(), ["own\n"])

    def test_a_time_out_beyond_its_limits_is_clamped_and_said(self):
        self.make("import time; time.sleep(0.1)")
        for timeout, note in ((0.05, "timeout 0.05 s was clamped to 1 s"), (5000, "timeout 5000 s was clamped to 3600 s"),
                              (-1, "timeout -1 s was clamped to 1 s")):
            self.client.send(id="r", type="notebook.run", file=self.path, timeout=timeout)
            finished, done = self.client.frames_of("r")[-2:]
            self.assertEqual((done["status"], done["notices"]), ("ok", [note]))
            self.assertIn(note, finished["notices"])
        self.assertNotIn("notices", self.ask("run", timeout=2))
        self.assertEqual(self.ask("run", timeout="2")["error"]["evalue"], "timeout: expected a number of seconds")

    def test_cancel_ends_the_cell_and_the_run(self):
        self.make("print('on\\n', end='')\nwhile True: pass", "print('never')")
        self.client.send(id="r", type="notebook.run", file=self.path)
        self.client.next_frame("r", "stdout")
        self.assertEqual(self.client.ask("cancel", call="r")["status"], "ok")
        done = self.client.done("r")
        self.assertEqual((done["status"], done["cells_run"]), ("cancelled", 1))
        self.assertEqual(self.texts(), ["on\n", ""])

    def test_a_run_whose_session_is_closed_or_interrupted_is_cancelled(self):
        self.make("print('on\\n', end='')\nimport time; time.sleep(60)", "print('never')")
        for request in ("close", "interrupt"):
            with self.subTest(request):
                self.client.send(id="r", type="notebook.run", file=self.path, session="s", allow_errors=True)
                self.client.next_frame("r", "stdout")
                self.assertEqual(self.client.ask(request, session="s")["status"], "ok")
                done = self.client.done("r")
                self.assertEqual((done["status"], done["cells_run"]), ("cancelled", 1))
                self.assertEqual(self.texts(), ["on\n", ""])

    def test_a_run_that_waits_for_its_session_can_be_cancelled(self):
        self.make("1")
        self.client.send(id="a", type="eval", session="s", cells=[{"code": "import time; time.sleep(60)"}])
        self.client.next_frame("a", "started")
        self.client.send(id="r", type="notebook.run", file=self.path, session="s")
        wait_until(lambda: self.client.ask("sessions")["sessions"][0]["waiting"] == 1, "the run waits")
        self.client.ask("cancel", call="r")
        self.assertEqual((self.client.done("r")["status"], self.cells()[0]["execution_count"]), ("cancelled", None))
        self.client.ask("cancel", call="a")
        self.client.done("a")

    def test_a_client_that_leaves_ends_the_run_and_what_was_done_is_saved(self):
        self.make("print('on\\n', end='')\nimport time; time.sleep(60)")
        self.client.send(id="r", type="notebook.run", file=self.path)
        self.client.next_frame("r", "stdout")
        self.client.send(type="exit")
        self.assertEqual(self.process.wait(DEADLINE_S), 0)
        self.assertEqual(self.texts(), ["on\n"])

    def test_a_server_that_is_told_to_end_saves_what_was_done(self):
        self.make("print('on\\n', end='')\nimport time; time.sleep(60)")
        self.client.send(id="r", type="notebook.run", file=self.path)
        self.client.next_frame("r", "stdout")
        self.process.terminate()
        self.assertEqual(self.process.wait(DEADLINE_S), 128 + signal.SIGTERM)
        self.assertTrue(self.texts()[0].startswith("on\n"))

    def test_its_cells_call_the_client_and_ask_it_for_input(self):
        self.make("tool.add({'of': [1, 2]}), input('n? ')")
        self.client.ask("hello", input=True)
        self.client.ask("tools", tools=[{"name": "add"}])
        self.client.send(id="r", type="notebook.run", file=self.path)
        self.client.send(type="reply", call=self.client.next_frame("r", "call")["call"], value=3)
        asked = self.client.next_frame("r", "input")
        self.assertEqual(asked["prompt"], "n? ")
        self.client.send(type="reply", call=asked["call"], value="4")
        self.assertEqual(self.client.next_frame("r", "result")["data"]["text/plain"], "(3, '4')")
        self.assertEqual(self.client.done("r")["status"], "ok")

    def test_input_is_asked_for_with_its_prompt_also_when_nothing_is_streamed(self):
        self.make("input('n? ')")
        self.client.ask("hello", input=True)
        self.client.send(id="r", type="notebook.run", file=self.path, stream=False)
        asked = self.client.next_frame("r", "input")
        self.assertEqual(asked["prompt"], "n? ")
        self.client.send(type="reply", call=asked["call"], value="4")
        self.assertEqual(self.client.done("r")["status"], "ok")

    def test_a_string_is_an_id_and_a_number_an_index(self):
        self.make("print('first')", "print('second')")
        with open(self.path) as file:
            notebook = json.load(file)
        notebook["cells"][0]["id"] = "1"
        with open(self.path, "w") as file:
            json.dump(notebook, file)
        self.client.ask("notebook.run", file=self.path, cells=["1"])
        self.assertEqual(self.texts(), ["first\n", ""])
        deleted = self.client.ask("notebook.delete", file=self.path, cell=1)
        self.assertEqual(deleted["details"]["source"], "print('second')")


class SharedRuns(DaemonTest, NotebookTest):
    """`cellar notebook run --session`."""

    def run_notebook(self, *args, **options):
        return self.run_cellar("notebook", "run", "a.ipynb", "-s", "work", *args, cwd=self.folder, **options)

    def test_it_runs_on_the_session_of_the_daemon(self):
        self.make("y = x + 1; print(y)", "1/0", "n", tags=[1])
        self.run_in_session("x = 1")
        code, out, err = self.run_notebook("-p", "n=5")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^\[1/4\] cell 0: ok, .* s\n\[2/4\] cell 1: ok, .* s\n\[3/4\] cell 2: raised, as its tag says,"
                              r" .* s\n\[4/4\] cell 3: ok, .* s\n4 cells run, .* s\n$")
        self.assertEqual(self.texts()[1], "2\n")
        self.assertEqual(self.run_in_session("y, n")[1], "(2, 5)\n")

    def test_a_cell_that_raises_as_its_tag_says_has_not_failed_wherever_it_stands(self):
        self.make("1/0", "2/0", tags=[0])
        code, out, _ = self.run_notebook("--allow-errors")
        self.assertEqual(code, 1)
        self.assertRegex(out, r"^\[1/2\] cell 0: raised, as its tag says, .* s\n\[2/2\] cell 1: failed, .* s\n"
                              r"2 cells run, 1 failed, .* s\n$")
        code, out, err = self.run_notebook("--cell", "0")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^\[1/1\] cell 0: raised, as its tag says, .* s\n1 cell run, .* s\n$")

    def test_a_failure_and_a_refusal_show_in_the_exit_code(self):
        self.make("1/0", "2")
        code, out, err = self.run_notebook()
        self.assertEqual(code, 1)
        self.assertRegex(out, r"\n1 cell run, 1 failed, .* s\n$")
        self.assertIn("cellar: cell 0 is <cell 1> here:\n", err)
        self.assertIn("ZeroDivisionError", err)
        self.assertEqual(self.run_notebook("--cell", "9")[0], 2)

    def test_what_a_thread_prints_is_told_to_those_who_watch(self):
        gate = os.path.join(self.folder, "gate")
        self.make(prints_when_there(gate, "late"), until_there(gate + ".printed"))
        self.run_in_session("pass")
        watcher = self.connect()
        watcher.send(id="w", type="watch", session="work")
        watcher.next_frame("w", "state")
        process = self.start("notebook", "run", self.path, "-s", "work")
        watcher.next_frame("w", "finished")
        os.mkdir(gate)
        frame = watcher.next_frame("w", "stdout")
        self.assertEqual((frame["text"], frame["background"]), ("late\n", True))
        self.assertIn("call", frame)
        self.assertEqual(process.wait(DEADLINE_S), 0)

    def test_ctrl_c_interrupts_the_cell_and_the_session_lives_on(self):
        self.make("x = 7\nopen('on', 'w').close()\nwhile True: pass")
        process = self.start("notebook", "run", self.path, "-s", "work")
        wait_until(lambda: os.path.exists(os.path.join(self.folder, "on")), "the cell runs")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(DEADLINE_S), 130)
        self.assertEqual(self.cells()[0]["outputs"][0]["ename"], "KeyboardInterrupt")
        self.assertEqual(self.run_in_session("x")[1], "7\n")


if __name__ == "__main__":
    unittest.main()
