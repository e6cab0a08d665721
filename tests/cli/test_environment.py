"""Which Python the cells run in, and what its environment holds, as `cellar eval` and `cellar serve` users see it."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

from line_client import LineClient
from program import ProgramTest
from test_daemon import DaemonTest

SYSTEM_PACKAGES = "/usr/lib/python3/dist-packages"
WHO = """
import os, subprocess, sys, only_there
child = [sys.executable, "-c", "import only_there, sys; print(sys.prefix, only_there.__name__)"]
[sys.prefix, sys.executable, os.environ["PATH"].split(":")[0], os.environ.get("VIRTUAL_ENV"),
 subprocess.check_output(child, text=True).split(), subprocess.check_output(["python", *child[1:]], text=True).split(),
 %r in sys.path]
""" % SYSTEM_PACKAGES


class EnvironmentTest(ProgramTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.env["HOME"] = self.path("home")
        os.mkdir(self.path("home"))
        os.mkdir(self.path("project"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def make_venv(self, name, *options):
        """A real one, with a module that is nowhere else."""
        path = self.path(name)
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", *options, path], check=True, env=self.env)
        with open(os.path.join(path, "lib/python3.11/site-packages/only_there.py"), "w"):
            pass
        return path

    def in_project(self, *args, **options):
        return self.run_cellar("eval", "--cwd", self.path("project"), *args, **options)


class Venvs(EnvironmentTest):
    def check_is_adopted(self, venv, *args, with_system=False, **options):
        code, out, err = self.in_project(*args, WHO, **options)
        self.assertEqual((code, err), (0, ""))
        seen = [venv, "only_there"]
        self.assertEqual(eval(out), [venv, f"{venv}/bin/python", f"{venv}/bin", venv, seen, seen, with_system])

    def test_that_of_the_project_is_adopted_whole(self):
        self.check_is_adopted(self.make_venv("project/.venv"))

    def test_one_with_system_packages_has_them(self):
        self.check_is_adopted(self.make_venv("project/venv", "--system-site-packages"), with_system=True)

    def test_the_active_one_comes_before_that_of_the_project(self):
        self.make_venv("project/.venv")
        venv = self.make_venv("active")
        self.check_is_adopted(venv, env={"VIRTUAL_ENV": venv})

    def test_the_managed_one_is_for_those_who_have_no_other(self):
        self.check_is_adopted(self.make_venv("home/.cellar/python-env"))

    def test_one_asked_for_comes_before_all(self):
        self.make_venv("project/.venv")
        self.check_is_adopted(self.make_venv("asked"), "--interpreter", self.path("asked"))


class OtherVersions(EnvironmentTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("new/bin"))
        os.makedirs(self.path("new/lib/python3.12"))
        with open(self.path("new/lib/python3.12/os.py"), "w"):
            pass
        shutil.copy("/bin/true", self.path("new/bin/python3.12"))  # by its name and its place, not by what it does
        os.symlink("python3.12", self.path("new/bin/python3"))
        self.python = self.path("new/bin/python3")

    def test_one_that_was_only_found_is_passed_over_and_said(self):
        code, out, err = self.in_project("import sys; sys.prefix", env={"PATH": self.path("new/bin") + ":/usr/bin:/bin"})
        self.assertEqual((code, out), (0, "'/usr'\n"))
        self.assertEqual(err, f"cellar: passed over {self.python} (PATH): {self.python} is Python 3.12, "
                              "this worker runs Python 3.11\n")

    def test_one_that_was_asked_for_is_an_error(self):
        code, out, err = self.in_project("--interpreter", self.python, "1")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("is Python 3.12, this worker runs Python 3.11", err)

    def test_so_is_a_broken_one(self):
        venv = self.make_venv("project/.venv")
        os.rename(venv + "/lib", venv + "/gone")
        code, out, err = self.in_project("1")
        self.assertEqual((code, out), (0, "1\n"))
        self.assertIn(f"passed over {venv} (.venv): there is no lib/python3.11/site-packages", err)
        self.assertEqual(self.in_project("--interpreter", venv, "1")[0], 2)


class Warnings(EnvironmentTest, DaemonTest):
    """Of a project whose environment is passed over and whose preload fails: they are told once, with the first cell."""

    def setUp(self):
        super().setUp()
        self.project = self.path("project")
        os.makedirs(self.path("project/.venv"))
        os.makedirs(self.path("project/.cellar"))
        with open(self.path("project/.cellar/config.json"), "w") as file:
            file.write('{"preload": ["no_such_module"]}')
        cell = {"cell_type": "code", "execution_count": None, "id": "a", "metadata": {}, "outputs": [], "source": "x = 1"}
        with open(self.path("project/a.ipynb"), "w") as file:
            json.dump({"cells": [cell, {**cell, "id": "b"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, file)

    def told(self, *args, **options):
        """How often each warning is in what a command writes, to standard output and standard error."""
        code, out, err = self.run_cellar(*args, cwd=self.project, **options)
        self.assertEqual(code, 0, err)
        return [(out + err).count(words) for words in ("passed over", "preload no_such_module: ")]

    def notices(self, *args):
        code, out, err = self.run_cellar(*args, cwd=self.project)
        self.assertEqual((code, err), (0, ""))
        result = json.loads(out)
        passed_over, preload = result["cells"][0]["notices"]
        self.assertTrue(passed_over.startswith("passed over " + self.path("project/.venv")), passed_over)
        self.assertTrue(preload.startswith("preload no_such_module: "), preload)
        self.assertIn(f"[{passed_over}]", result["text"])
        self.assertEqual([cell["notices"] for cell in result["cells"][1:]], [[]] * (len(result["cells"]) - 1))

    def test_are_told_to_a_person(self):
        self.assertEqual(self.told("eval", "1", "2"), [1, 1])
        self.assertEqual(self.told("eval", "-s", "work", "1", "2"), [1, 1])
        self.assertEqual(self.told("eval", "-s", "work", "1", "2"), [0, 0])
        self.assertEqual(self.told("notebook", "run", "a.ipynb"), [1, 1])
        self.assertEqual(self.told("notebook", "run", "a.ipynb", "-s", "notebook"), [1, 1])

    def test_are_told_to_a_program(self):
        self.notices("eval", "--json", "1", "2")
        self.notices("eval", "-s", "work", "--json", "1", "2")
        requests = '{"id": "1", "type": "eval", "cells": [{"code": "1"}]}\n'
        self.assertEqual(self.told("serve", input=requests.encode()), [3, 3])  # in finished, in the result and its text

    def test_tell_of_an_activated_environment_where_the_session_is_the_daemons(self):
        for command in (("eval", "-s", "a", "1"), ("notebook", "run", "a.ipynb", "-s", "b")):
            err = self.run_cellar(*command, cwd=self.project, env={"VIRTUAL_ENV": self.path("nowhere")})[2]
            self.assertEqual(err.count("nowhere (VIRTUAL_ENV)"), 1, err)

    def test_a_notebook_on_a_session_has_the_activated_environment(self):
        venv = self.make_venv("active")
        self.assertEqual(self.told("notebook", "run", "a.ipynb", "-s", "work", env={"VIRTUAL_ENV": venv}), [0, 1])
        code, out, err = self.run_cellar("eval", "-s", "work", "import os, sys; [sys.prefix, os.getcwd()]")
        self.assertEqual((code, out), (0, f"{[venv, self.project]}\n"), err)


class Variables(EnvironmentTest):
    def variables(self, *names, **options):
        code, out, err = self.in_project(f"import os; [os.environ.get(name) for name in {names!r}]", **options)
        self.assertEqual((code, err), (0, ""))
        return eval(out)

    def test_what_is_allowed_is_there_and_nothing_else(self):
        given = {"LC_TIME": "C", "XDG_DATA_HOME": "/d", "PI_THING": "p", "CELLAR_OWN": "c", "OMP_NUM_THREADS": "2",
                 "https_proxy": "http://x", "MY_OWN": "m"}
        self.assertEqual(self.variables(*given, env=given), [*list(given.values())[:-1], None])

    def test_secrets_are_dropped_even_where_their_prefix_is_allowed(self):
        secrets = {"PI_API_KEY": "1", "CELLAR_SECRET": "2", "XDG_TOKEN": "3", "AWS_SECRET_ACCESS_KEY": "4",
                   "ANTHROPIC_API_KEY": "5"}
        self.assertEqual(self.variables(*secrets, env=secrets), [None] * len(secrets))

    def test_a_script_that_a_project_gives_for_its_python_sees_no_secret(self):
        script = self.path("project/py.sh")
        with open(script, "w") as file:
            file.write(f"#!/bin/sh\nenv >{self.path('seen')}\nexec /usr/bin/python3 \"$@\"\n")
        os.chmod(script, 0o755)
        os.makedirs(self.path("project/.cellar"))
        with open(self.path("project/.cellar/config.json"), "w") as file:
            file.write('{"interpreter": "./py.sh"}')
        secrets = {"ANTHROPIC_API_KEY": "sk-1", "UV_INDEX_URL": "https://u:sk-2@corp/simple", "MY_OWN": "sk-3"}
        self.in_project("1", env={**secrets, "PYENV_VERSION": "3.11.2"})
        with open(self.path("seen")) as file:
            seen = file.read()
        self.assertIn("PYENV_VERSION=3.11.2", seen)
        self.assertNotIn("sk-", seen)

    def test_what_agents_hand_on_is_there(self):
        given = {"PI_SESSION_FILE": "/s.json", "PI_ARTIFACTS_DIR": self.path("artifacts"),
                 "PI_TOOL_BRIDGE_URL": "http://127.0.0.1:1", "PI_TOOL_BRIDGE_TOKEN": "t", "PI_TOOL_BRIDGE_SESSION": "b"}
        self.assertEqual(self.variables(*given, "ARTIFACTS", env=given), [*given.values(), self.path("artifacts")])

    def test_without_a_directory_for_artifacts_there_is_one_of_the_hosts_own(self):
        of_pi, alias = self.variables("PI_ARTIFACTS_DIR", "ARTIFACTS")
        self.assertEqual(of_pi, alias)
        self.assertTrue(of_pi.startswith(self.path("home/.local/state/cellar/artifacts-")), of_pi)


class OfTheOpener(EnvironmentTest, DaemonTest):
    """A session of the daemon has the variables of the client that opens it, not of the one that started the daemon."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.run_cellar("eval", "-s", "first", "pass", env={"PYTHONPATH": "/first", "PI_THING": "first"})[0], 0)

    def test_cells_get_them_without_the_secrets(self):
        look = ("import os, sys; "
                "[os.environ.get(n) for n in ('LC_TIME', 'PI_THING', 'ANTHROPIC_API_KEY', 'MINE_TOKEN')] + ['/mine' in sys.path]")
        given = {"LC_TIME": "C", "PYTHONPATH": "/mine", "ANTHROPIC_API_KEY": "sk-1", "MINE_TOKEN": "sk-2",
                 "CELLAR_ENV_ALLOW": "MINE_TOKEN"}
        self.assertEqual(self.run_in_session(look, env=given), (0, f"{['C', None, None, 'sk-2', True]}\n", ""))

    def test_settings_hold_and_a_bad_one_is_an_error_of_the_call(self):
        code, out, err = self.run_in_session("1", env={"CELLAR_MEMORY_CAP_MB": "much"})
        self.assertEqual((code, out), (2, ""))
        self.assertIn("environment variable CELLAR_MEMORY_CAP_MB: expected a whole number", err)
        self.assertEqual(self.run_in_session("b = bytearray(300 << 20)", env={"CELLAR_MEMORY_CAP_MB": "100"})[0], 1)
        code, out, _ = self.run_cellar("eval", "-s", "preloaded", "import sys; 'colorsys' in sys.modules",
                                       env={"CELLAR_PRELOAD": "colorsys"})
        self.assertEqual((code, out), (0, "True\n"))

    def test_an_open_session_stays_as_it_is_and_says_so(self):
        self.run_in_session("pass", env={"CELLAR_ENV_ALLOW": "A,B"})
        notice = "the session is open already, with memory_cap_mb 0: CELLAR_MEMORY_CAP_MB has no effect on it"
        for _ in range(2):
            self.assertEqual(self.run_in_session("1", env={"CELLAR_MEMORY_CAP_MB": "100", "CELLAR_ENV_ALLOW": "B"}),
                             (0, "1\n", f"cellar: {notice}\n"))
        self.assertEqual(self.run_in_session("1", env={"CELLAR_MAX_SESSIONS": "7"}), (0, "1\n", ""))
        self.assertEqual(self.run_in_session("1", env={"CELLAR_MEMORY_CAP_MB": "much"})[0], 2)

    def test_what_a_refused_call_would_have_been_told_is_not_told_to_the_next(self):
        for _ in range(4):
            self.run_in_session("import os; os._exit(1)")
        for _ in range(2):
            code, _, err = self.run_in_session("1", env={"CELLAR_MEMORY_CAP_MB": "100"})
            self.assertNotEqual(code, 0)
            self.assertNotIn("CELLAR_MEMORY_CAP_MB", err)
        self.assertEqual(self.run_cellar("reset", "work")[0], 0)
        self.assertNotIn("CELLAR_MEMORY_CAP_MB", self.run_in_session("1")[2])

    def test_artifacts_go_where_they_say(self):
        code, out, err = self.run_cellar("eval", "-s", "work", "--json", "print('x' * 100_000)", cwd=self.path("project"),
                                         env={"PI_ARTIFACTS_DIR": "mine"})
        path = json.loads(out)["cells"][0]["truncation"]["artifact_path"]
        self.assertEqual((os.path.dirname(path), os.stat(path).st_size), (self.path("project/mine"), 100_001))
        self.assertEqual(eval(self.run_in_session("import os; os.environ['ARTIFACTS']")[1]), self.path("project/mine"))


class OfACall(EnvironmentTest):
    def setUp(self):
        super().setUp()
        process = self.start("serve", stdin=subprocess.PIPE, bufsize=0)
        self.client = LineClient(process.stdin, process.stdout)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)

    def value(self, code, **fields):
        return eval(self.client.value(code, session="s", **fields))

    def test_variables_are_set_and_removed_and_stay_so(self):
        look = "import os; [os.environ.get(name) for name in ('A', 'LANG', 'PI_SESSION_FILE')]"
        self.assertEqual(self.value(look, env={"A": "1", "LANG": None, "PI_SESSION_FILE": "/f"}), ["1", None, "/f"])
        self.assertEqual(self.value(look), ["1", None, "/f"])
        self.client.ask("reset", session="s")
        self.client.eval("pass", session="s")  # is told of it
        self.assertEqual(self.value(look), ["1", None, "/f"])

    def test_artifacts_go_where_the_call_says_and_later_ones_too(self):
        mine = self.path("mine")
        self.assertEqual(self.value("import os; os.environ['ARTIFACTS']", env={"PI_ARTIFACTS_DIR": mine}), mine)
        done = self.client.eval("print('x' * 100_000)", session="s")
        path = done["result"]["cells"][0]["truncation"]["artifact_path"]
        self.assertEqual((os.path.dirname(path), os.stat(path).st_size), (mine, 100_001))
        done = self.client.eval("print('x' * 100_000)", session="s", env={"PI_ARTIFACTS_DIR": None})
        self.assertNotIn(mine, done["result"]["cells"][0]["truncation"]["artifact_path"])

    def test_directory_and_module_path_follow(self):
        where = "import os, sys; [os.getcwd(), sys.path[0]]"
        self.assertEqual(self.value(where, cwd=self.path("project")), [self.path("project")] * 2)

    def test_another_interpreter_is_another_session(self):
        venv = self.make_venv("venv")
        look = "import sys; [sys.prefix, globals().get('x')]"
        self.assertEqual(self.value("x = 1\n" + look), ["/usr", 1])
        other = self.client.eval(look, session="s", interpreter=venv)["result"]
        self.assertEqual(other["session"]["state"], "fresh")
        self.assertIn("another session of this name is open", other["session"]["reason"])
        self.assertEqual(self.value(look), [venv, None])  # the one that was used last
        self.assertEqual(self.value(look, interpreter="/usr/bin/python3"), ["/usr", 1])

    def test_a_directory_that_is_none_is_refused(self):
        for cwd in (self.path("missing"), __file__):
            with self.subTest(cwd):
                done = self.client.eval("1", session="s", cwd=cwd)
                self.assertEqual(done["status"], "refused")
                self.assertIn(cwd, done["error"]["evalue"])


if __name__ == "__main__":
    unittest.main()
