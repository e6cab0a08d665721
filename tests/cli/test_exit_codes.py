"""One mistake has one exit code, whichever command it is made with."""
import json
import os
import subprocess
import unittest

from program import CELLAR, Terminal
from test_daemon import DaemonTest
from test_notebook_run import NotebookRunTest


class ExitCodes(DaemonTest, NotebookRunTest):
    def setUp(self):
        super().setUp()
        self.make("1")

    def check(self, code, *commands, **options):
        for command in commands:
            found = self.run_cellar(*command, cwd=self.folder, **options)
            self.assertEqual(found[0], code, (command, found))

    def test_a_setting_that_is_wrong(self):
        self.check(2, ("eval", "--set", "max_sessions=0", "1"), ("config", "--set", "max_sessions=0"))
        self.check(2, ("eval", "1"), ("eval", "--describe"), ("config",), ("doctor",), ("notebook", "run", "a.ipynb"),
                   env={"CELLAR_RETRY": "x"})

    def test_an_interpreter_that_is_not_there(self):
        asked = ("--interpreter", "/no/such")
        self.check(2, ("eval", *asked, "1"), ("eval", "-s", "work", *asked, "1"), ("notebook", "run", "a.ipynb", *asked),
                   ("notebook", "run", "a.ipynb", "-s", "work", *asked), ("doctor", *asked))

    def test_an_interpreter_that_may_not_be_run(self):
        self.check(2, ("eval", "--interpreter", "/etc/passwd", "1"), ("doctor", "--interpreter", "/etc/passwd"))

    def test_a_notebook_of_another_language(self):
        path = os.path.join(self.folder, "r.ipynb")
        with open(path, "w") as notebook:
            notebook.write('{"cells": [], "metadata": {"language_info": {"name": "R"}}, "nbformat": 4, "nbformat_minor": 4}')
        self.check(2, ("notebook", "run", path), ("notebook", "run", path, "-s", "work"))

    def test_a_notebook_is_converted_to_nothing_but_scripts_and_notebooks(self):
        self.check(2, ("notebook", "convert", "a.ipynb", "a.html"))
        self.assertFalse(os.path.exists(os.path.join(self.folder, "a.html")))

    def test_a_cell_that_is_too_long(self):
        code, _, err = self.run_cellar("eval", "-", input=b"#" * ((64 << 20) + 1))
        self.assertEqual((code, err), (2, "cellar: reading standard input: more than 64 MiB\n"))

    def test_a_refusal_is_a_result_for_programs(self):
        unknown = b'{"nonsense": 1, "cells": [{"code": "1"}]}'
        for code, command, request in ((2, ("--request", "-"), b"no JSON"), (2, ("--request", "-"), unknown),
                                       (2, ("--cwd", "/no/such", "1"), b""), (2, ("--interpreter", "/no/such", "1"), b"")):
            for session in ((), ("-s", "work")):
                found, out, err = self.run_cellar("eval", "--json", *session, *command, input=request)
                result = json.loads(out)
                self.assertEqual((found, result["status"], result["cells"], result["background"]), (code, "error", [], []), command)
                self.assertEqual((result["session"]["id"], err), ("".join(session[1:]), f"cellar: {result['text']}\n"))

    def test_a_session_name_that_would_not_stay_on_its_line(self):
        for name in ("a\nb", "\x1b[31m", "a\x7f", b"a\xff"):
            self.check(2, ("eval", "-s", name, "1"), ("branch", "work", name))
        self.check(2, ("eval", "--request", "-"), input=b'{"session": "a\\u0085", "cells": [{"code": "1"}]}')

    def test_a_directory_that_has_been_deleted(self):
        for command in (("eval", "1"), ("eval", "-s", "work", "1"), ("config",)):
            run = subprocess.run(["sh", "-c", 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"', os.path.join(self.folder, "gone"),
                                  CELLAR, *command], env=self.env, capture_output=True, timeout=30)
            self.assertEqual((run.returncode, run.stderr), (2, b"cellar: the current directory has been deleted\n"), command)

    def test_a_notebook_or_a_cell_that_is_not_there(self):
        self.check(2, ("notebook", "show", "no.ipynb"), ("notebook", "run", "no.ipynb"),
                   ("notebook", "run", "no.ipynb", "-s", "work"), ("notebook", "edit", "a.ipynb", "9", "--source", "x"),
                   ("notebook", "run", "a.ipynb", "--cell", "9"), ("notebook", "run", "a.ipynb", "-s", "work", "--cell", "9"))
        refused = self.connect().ask("notebook.run", file=self.path, cells=[9])
        self.assertEqual(refused["error"]["ename"], "NotFound")

    def test_a_time_out_that_is_no_number(self):
        for timeout in ("nan", "inf", "soon"):
            self.check(2, ("eval", "--timeout", timeout, "1"), ("notebook", "run", "a.ipynb", "--timeout", timeout),
                       ("notebook", "run", "a.ipynb", "-s", "work", "--timeout", timeout))

    def test_a_time_out_that_is_out_of_range_is_clamped_and_said(self):
        for given, allowed in (("0.001", "1"), ("99999", "3600"), ("1e18", "3600")):
            for command in (("eval", "1"), ("eval", "-s", "work", "1"), ("notebook", "run", "a.ipynb"),
                            ("notebook", "run", "a.ipynb", "-s", "work")):
                code, _, err = self.run_cellar(*command, "--timeout", given, cwd=self.folder)
                self.assertEqual((code, err.count(f" s was clamped to {allowed} s\n")), (0, 1), (command, err))

    def test_two_answers_to_one_question(self):
        self.check(2, ("notebook", "edit", "a.ipynb", "0", "--source", "x", "--from", "b.py"))
        request = b'{"session": "other", "cells": [{"code": "1"}]}'
        self.check(2, ("eval", "-s", "work", "--request", "-"), input=request)
        self.check(0, ("eval", "-s", "other", "--request", "-"), input=request)

    def test_a_parameter_that_python_would_not_take(self):
        self.check(2, ("notebook", "run", "a.ipynb", "-p", "class=1"), ("notebook", "run", "a.ipynb", "-s", "work", "-p", "class=1"))

    def test_standard_output_that_cannot_be_written(self):
        self.run_in_session("1")
        commands = ("--help",), ("eval", "1"), ("sessions",), ("doctor",), ("config",), ("notebook", "show", "a.ipynb"), \
            ("notebook", "run", "a.ipynb"), ("notebook", "run", "a.ipynb", "-s", "work")
        for command in commands:
            with open("/dev/full", "wb") as full:
                run = subprocess.run([CELLAR, *command], env=self.env, cwd=self.folder, stdout=full,
                                     stderr=subprocess.PIPE, timeout=30)
            self.assertEqual(run.returncode, 3, command)
            self.assertIn(b"writing standard output", run.stderr)
            reading, writing = os.pipe()
            os.close(reading)
            run = subprocess.run([CELLAR, *command], env=self.env, cwd=self.folder, stdout=writing,
                                 stderr=subprocess.PIPE, timeout=30)
            os.close(writing)
            self.assertEqual((run.returncode, run.stderr), (141, b""), command)

    def test_without_its_pager_a_notebook_is_shown_all_the_same(self):
        terminal = Terminal(self, "notebook", "show", "--page", self.path, env={"PAGER": "/no/such/pager"})
        terminal.wait_for("# %% [code] cell:0")
        self.assertEqual(terminal.exit_code(), 0)


if __name__ == "__main__":
    unittest.main()
