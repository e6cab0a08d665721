"""`cellar notebook run` on real files: what it writes, when, and what is left when something goes wrong."""
import json
import os
import re
import shutil
import signal
import tempfile
import unittest
import warnings

from program import ProgramTest, Screen, Terminal, wait_until

try:
    import nbformat
    warnings.simplefilter("ignore")  # it deprecates much of itself
except ImportError:
    nbformat = None


class NotebookRunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "a.ipynb")

    def make(self, *sources, tags=None, **members):
        """Writes a notebook of these code cells; `tags` are by cell."""
        cells = [{"cell_type": "code", "execution_count": None, "id": f"c{i}", "outputs": [], "source": source,
                  "metadata": {"tags": tags[i]} if tags and i in tags else {}} for i, source in enumerate(sources)]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **members}
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump(notebook, file, indent=1)

    def read(self, path=None):
        """The notebook's code cells; fails unless the file is a valid notebook."""
        with open(path or self.path, encoding="utf-8") as file:
            notebook = json.load(file)
        if nbformat:
            nbformat.validate(notebook, relax_add_props=False)
        return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]

    def outputs(self, cell, path=None):
        """(type, text) of each output of a cell."""
        found = []
        for output in self.read(path)[cell]["outputs"]:
            if output["output_type"] == "stream":
                found.append((output["name"], "".join(output["text"])))
            elif output["output_type"] == "error":
                found.append(("error", "\n".join(output["traceback"])))
            else:
                found.append((output["output_type"], "".join(output["data"]["text/plain"])))
        return found

    def run_notebook(self, *args, **options):
        return self.run_cellar("notebook", "run", self.path, *args, **options)


class OutputsTest(NotebookRunTest):
    def test_streams_results_counts_and_times(self):
        self.make("import sys\nprint('a'); print('b'); print('c', file=sys.stderr)\n40 + 2", "'x'")
        code, out, err = self.run_notebook()
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^\[1/2\] cell 0: ok, .* s\n\[2/2\] cell 1: ok, .* s\n2 cells run, .* s\n$")
        self.assertEqual(self.outputs(0), [("stdout", "a\nb\n"), ("stderr", "c\n"), ("execute_result", "42")])
        self.assertEqual([cell["execution_count"] for cell in self.read()], [1, 2])
        self.assertEqual(sorted(self.read()[1]["metadata"]["execution"]),
                         ["iopub.execute_input", "iopub.status.busy", "iopub.status.idle", "shell.execute_reply"])

    def test_escapes_carriage_returns_and_child_processes_are_kept_raw(self):
        self.make(r"print('\x1b[31mred\x1b[0m\r50%\r100%')", "import os; os.system('printf child')")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(self.outputs(0), [("stdout", "\x1b[31mred\x1b[0m\r50%\r100%\n")])
        self.assertEqual(self.outputs(1), [("stdout", "child"), ("execute_result", "0")])

    def test_a_display_is_updated_by_a_later_cell(self):
        self.make("_ = display('one', display_id='x')", "update_display('two', display_id='x')")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(self.outputs(0), [("display_data", "'two'")])
        self.assertEqual(self.outputs(1), [])
        self.assertNotIn("transient", self.read()[0]["outputs"][0])

    def test_clear_output(self):
        self.make("print('a'); clear_output(); print('b')", "print('c'); clear_output(wait=True)",
                  "print('d'); clear_output(wait=True); print('e')")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual([self.outputs(cell) for cell in range(3)],
                         [[("stdout", "b\n")], [("stdout", "c\n")], [("stdout", "e\n")]])

    def test_images_are_base64(self):
        self.make("class P:\n def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n1234'\nP()")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(self.read()[0]["outputs"][0]["data"]["image/png"], "iVBORw0KGgoxMjM0")

    def test_top_level_await_and_threads(self):
        self.make("import asyncio; await asyncio.sleep(0, 'done')",
                  "import threading\ngo = threading.Event()\n"
                  "t = threading.Thread(target=lambda: (go.wait(), print('late')))\nt.start()", "go.set(); t.join()", "import atexit; atexit.register(print, 'last words');")
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(self.outputs(0), [("execute_result", "'done'")])
        self.assertEqual(self.outputs(2), [("stdout", "late\n")])
        self.assertEqual(self.outputs(3), [("stdout", "last words\n")])

    def test_more_output_than_a_notebook_should_have_is_cut_and_said(self):
        self.make("for i in range(300_000): print('line', i, '.' * 60)")
        self.assertEqual(self.run_notebook(env={"XDG_STATE_HOME": self.folder})[0], 0)
        (_, head), (kind, note), (_, tail) = self.outputs(0)
        self.assertTrue(head.startswith("line 0 ."))
        self.assertTrue(tail.endswith("line 299999 " + "." * 60 + "\n"))
        self.assertEqual(kind, "stderr")
        path = note.partition("all of it is in ")[2].removesuffix("]\n")
        with open(path, encoding="utf-8") as artifact:
            self.assertEqual(sum(1 for _ in artifact), 300_000)
        self.assertLess(os.path.getsize(self.path), 20 << 20)

    def test_what_is_not_run_stays_byte_for_byte(self):
        text = ('{"nbformat":4,"nbformat_minor":2,"metadata":{"n":1.50},"cells":[\r\n'
                '{"cell_type":"markdown","metadata":{},"source":"\\u00e9 é"},\r\n'
                '{"cell_type":"code","metadata":{},"execution_count":null,"outputs":[],"source":"1"} ]}')
        with open(self.path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(self.path, 0o640)
        self.assertEqual(self.run_notebook()[0], 0)
        with open(self.path, encoding="utf-8", newline="") as file:
            after = file.read()
        self.assertEqual(after[:text.index('"execution_count"') - 16], text[:text.index('"execution_count"') - 16])
        self.assertTrue(after.endswith('"source":"1"} ]}'))
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o640)

    def test_nothing_to_run_writes_nothing(self):
        self.make()
        before = os.stat(self.path)
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual(os.stat(self.path).st_ino, before.st_ino)

    def test_cells_find_the_files_beside_the_notebook(self):
        self.make("import os; print(os.path.samefile(os.getcwd(), os.path.dirname(%r)))" % self.path)
        self.assertEqual(self.run_cellar("notebook", "run", self.path, cwd="/")[0], 0)
        self.assertEqual(self.outputs(0), [("stdout", "True\n")])


class SelectionTest(NotebookRunTest):
    def test_single_cells_and_from(self):
        self.make("print(0)", "print(1)", "print(2)")
        self.assertEqual(self.run_notebook("--cell", "c2", "--cell", "0")[0], 0)
        self.assertEqual([self.outputs(cell) for cell in range(3)], [[("stdout", "0\n")], [], [("stdout", "2\n")]])
        self.assertEqual(self.run_notebook("--clear", "--from", "1")[0], 0)
        self.assertEqual([self.outputs(cell) for cell in range(3)], [[], [("stdout", "1\n")], [("stdout", "2\n")]])

    def test_output_leaves_the_notebook_alone(self):
        self.make("print(1)")
        with open(self.path, "rb") as file:
            before = file.read()
        other = os.path.join(self.folder, "b.ipynb")
        for _ in range(2):
            self.assertEqual(self.run_notebook("--output", other)[0], 0)
        with open(self.path, "rb") as file:
            self.assertEqual(file.read(), before)
        self.assertEqual(self.outputs(0, other), [("stdout", "1\n")])

    def test_parameters_are_injected_and_replaced(self):
        self.make("print('first')", "a = 1; b = 'x'", "print(a, b)", tags={1: ["parameters"]})
        self.assertEqual(self.run_notebook("--param", "a=2", "-p", "b=it's \"é\"")[0], 0)
        self.assertEqual(self.read()[2]["metadata"]["tags"], ["injected-parameters"])
        self.assertEqual(self.outputs(3), [("stdout", "2 it's \"é\"\n")])
        self.assertEqual(self.run_notebook("--param", "a=0.5", "--cell", "3")[0], 1)  # b is not there
        self.assertEqual("".join(self.read()[2]["source"]), "# Parameters\na = 0.5")
        self.assertEqual(len(self.read()), 4)

    def test_wrong_use(self):
        self.make("1")
        for args in (["--param", "a"], ["--timeout", "nan"], ["--cell", "0", "--from", "0"], ["--no-such"]):
            self.assertEqual(self.run_notebook(*args)[0], 2, args)
        for args in (["--cell", "7"], ["--interpreter", "/no/such"], ["--cwd", "/no/such"]):
            self.assertEqual(self.run_notebook(*args)[0], 2, args)

    def test_a_notebook_in_another_language_is_refused(self):
        self.make("x <- 1", metadata={"kernelspec": {"language": "R", "name": "ir", "display_name": "R"}})
        code, _, err = self.run_notebook()
        self.assertEqual(code, 2)
        self.assertIn("written in R", err)


class FailureTest(NotebookRunTest):
    def test_the_first_failure_ends_the_run_and_keeps_what_there_is(self):
        self.make("print('before')", "print('partly'); 1 / 0", "print('after')")
        code, out, err = self.run_notebook()
        self.assertEqual(code, 1)
        self.assertIn("[2/3] cell 1: failed", out)
        self.assertIn('File "<cell 2>", line 1', err)
        (_, text), (kind, traceback) = self.outputs(1)
        self.assertEqual((text, kind), ("partly\n", "error"))
        self.assertIn('File "<cell 2>", line 1', traceback)
        self.assertTrue(traceback.endswith("ZeroDivisionError: division by zero"))
        self.assertEqual(self.read()[2]["execution_count"], None)

    def test_allowed_errors(self):
        self.make("1 / 0", "print('after')")
        self.assertEqual(self.run_notebook("--allow-errors")[0], 1)
        self.assertEqual(self.outputs(1), [("stdout", "after\n")])

    def test_tags_of_cells(self):
        self.make("1 / 0", "print(1)", "print(2)", tags={0: ["raises-exception"], 1: ["skip-execution"]})
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual([len(self.outputs(cell)) for cell in range(3)], [1, 0, 1])

    def test_a_thread_that_prints_for_ever_does_not_keep_the_run_from_ending(self):
        self.make("import threading, time\ndef f():\n    while True: print('tick'); time.sleep(0.001)\n"
                  "threading.Thread(target=f, daemon=True).start()", "1 #" + "x" * (8 << 20))  # saving it takes long
        self.assertEqual(self.run_notebook()[0], 0)
        self.assertEqual([cell["execution_count"] for cell in self.read()], [1, 2])

    def test_a_crash_of_the_worker_is_written_into_the_cell(self):
        self.env["CELLAR_SNAPSHOTS"] = "off"
        self.make("print('fine')", "print('so far')\nimport ctypes; ctypes.string_at(0)", "print('after')")
        for args in ([], ["--allow-errors"]):
            code, _, err = self.run_notebook(*args)
            self.assertEqual(code, 1)
            # A machine that is slow enough takes a snapshot between two cells.
            self.assertRegex(err, "state lost|state is that of before cell 2")
            self.assertEqual(self.outputs(0), [("stdout", "fine\n")])
            (_, text), (_, traceback) = self.outputs(1)
            self.assertEqual(text, "so far\n")
            self.assertTrue(traceback.endswith("WorkerDied: the worker died of SIGSEGV"), traceback)
            self.assertEqual(self.outputs(2), [])

    def test_allowed_errors_do_not_go_on_with_cells_undone_by_a_death(self):
        self.make("import time; time.sleep(1)", "b = 2", "import os; os.abort()", "print(b)")
        code, out, err = self.run_notebook("--allow-errors")
        self.assertEqual(code, 1)
        self.assertIn("[3/4] cell 2: died", out)
        self.assertRegex(err, "state lost|state is that of before cell")
        self.assertEqual([cell["execution_count"] for cell in self.read()], [1, 2, 3, None])

    def test_a_cell_whose_worker_died_is_run_again_where_the_settings_say_so(self):
        mark = os.path.join(self.folder, "mark")
        self.make(f"import os\nif not os.path.exists({mark!r}): os.mkdir({mark!r}); os.abort()\nprint('again')")
        code, out, _ = self.run_notebook(env={"CELLAR_RETRY": "once"})
        self.assertEqual((code, self.outputs(0)), (0, [("stdout", "again\n")]), out)
        os.rmdir(mark)
        self.assertEqual(self.run_notebook()[0], 1)

    def test_a_cell_that_takes_too_long(self):
        self.make("print('begun')\nwhile True: pass", "print('after')")
        code, out, _ = self.run_notebook("--timeout", "1")
        self.assertEqual(code, 1)
        self.assertIn("cell 0: timed out", out)
        self.assertEqual(self.outputs(0)[0], ("stdout", "begun\n"))
        self.assertTrue(self.outputs(0)[1][1].endswith("timed out after 1 second"))

    def start_and_wait_for(self, *sources):
        """Starts the run; returns when the last cell is where its source says MARK."""
        mark = os.path.join(self.folder, "mark")
        self.make(*sources[:-1], sources[-1].replace("MARK", f"open({mark!r}, 'w').close()"))
        process = self.start("notebook", "run", self.path)
        wait_until(lambda: os.path.exists(mark), "the last cell has begun")
        return process

    def test_an_interrupt_keeps_what_was_done(self):
        process = self.start_and_wait_for("print(1)", "print('partly')\nMARK\nimport time; time.sleep(60)")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(self.outputs(0), [("stdout", "1\n")])
        self.assertEqual(self.outputs(1)[0], ("stdout", "partly\n"))
        self.assertTrue(self.outputs(1)[-1][1].endswith("KeyboardInterrupt"))

    def test_a_termination_keeps_what_was_done(self):
        process = self.start_and_wait_for("print(1)", "MARK\nimport time; time.sleep(60)")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertEqual(self.outputs(0), [("stdout", "1\n")])
        self.assertEqual(self.outputs(1), [("stderr", "[cellar: the run was ended while this cell ran]\n")])

    def test_a_kill_leaves_a_valid_file_with_the_cells_that_had_ended(self):
        process = self.start_and_wait_for("print(1)", "MARK\nimport time; time.sleep(60)")
        wait_until(lambda: self.outputs(0) == [("stdout", "1\n")], "the first cell on disk")
        process.kill()
        process.wait()
        self.assertEqual(self.outputs(0), [("stdout", "1\n")])
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".tmp")], [])

    def test_a_file_that_someone_else_changes_is_not_overwritten(self):
        process = self.start_and_wait_for("print(1)", "MARK\nimport os, time\n"
                                          "while not os.path.exists('go'): time.sleep(0.01)")
        wait_until(lambda: self.outputs(0), "the first cell on disk")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("mine")
        open(os.path.join(self.folder, "go"), "w").close()
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 1)
        self.assertIn("changed on disk while it ran; the outputs are in", err.decode())
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "mine")
        self.assertEqual(self.outputs(0, os.path.join(self.folder, "a.run.ipynb")), [("stdout", "1\n")])

    def test_a_folder_that_cannot_be_written(self):
        self.make("print(1)")
        code, out, err = self.run_notebook("--output", "/proc/no/such.ipynb")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("/proc/no/such.ipynb", err)

    def test_no_cell_runs_when_the_outputs_could_not_be_written(self):
        self.make("open('ran', 'w').close()")
        os.mkdir(os.path.join(self.folder, "directory"))
        code, out, err = self.run_notebook("--output", os.path.join(self.folder, "directory"))
        self.assertEqual((code, out), (2, ""))
        self.assertIn("not a regular file", err)
        if os.geteuid() != 0:  # who may write everything
            os.chmod(self.path, 0o444)
            code, out, err = self.run_notebook()
            self.assertEqual((code, out), (3, ""))
            self.assertIn("Permission denied", err)
        self.assertFalse(os.path.exists(os.path.join(self.folder, "ran")))

    def test_one_that_is_not_there_is_said_to_be_unreadable(self):
        for path in ("no.ipynb", "/no/such/no.ipynb"):
            self.assertEqual(self.run_cellar("notebook", "run", path, cwd=self.folder),
                             (2, "", f"cellar: reading {path}: No such file or directory\n"))

    def test_a_reader_that_leaves_does_not_end_the_run(self):
        self.make("import time; time.sleep(0.3)", "print(1)")
        process = self.start("notebook", "run", self.path)
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), 141)
        self.assertEqual(self.outputs(1), [("stdout", "1\n")])


class TerminalTest(NotebookRunTest):
    def test_cells_are_shown_as_those_of_a_call_are(self):
        self.make("for i in range(30): print('line', i)", "phase('sleeping'); import time; time.sleep(1.5)", "1 / 0",
                  tags={2: ["raises-exception"]})
        screen = Screen(self, "notebook", "run", self.path, rows=50, stays=True)
        tail = "".join(f"\nline {i}" for i in range(20, 30))
        screen.wait_to_show(f"\nline 9\n… 10 lines left out; all of it is in the file{tail}\n[1/3] cell 0: ok, 0.")
        screen.wait_to_show("s  sleeping\n· [3/3] cell 2")
        text = screen.wait_to_match("\n3 cells run, .* s")
        shown = re.sub(r"\d+\.\d+ s", "T", text[text.index("[2/3]"):])
        self.assertEqual(shown.splitlines()[:9], [
            "[2/3] cell 1: ok, T", "cellar: cell 2 is <cell 3> here:", "Traceback (most recent call last):",
            '  File "<cell 3>", line 1, in <module>', "    1 / 0", "    ~~^~~", "ZeroDivisionError: division by zero",
            "[3/3] cell 2: raised, as its tag says, T", "3 cells run, T"])

    def test_elsewhere_a_line_says_how_a_cell_ended(self):
        self.make("print(1)", "2")
        code, out, err = self.run_cellar("notebook", "run", self.path)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^\[1/2\] cell 0: ok, [\d.]+ s\n\[2/2\] cell 1: ok, [\d.]+ s\n2 cells run, [\d.]+ s\n$")

    def test_control_c(self):
        self.make("import time; time.sleep(60)", "1")
        terminal = Terminal(self, "notebook", "run", self.path)
        terminal.wait_for("1.")
        terminal.send("\x03")
        terminal.wait_for("1 cell run, 1 failed, interrupted")
        self.assertEqual(terminal.exit_code(), 130)


if __name__ == "__main__":
    unittest.main()
