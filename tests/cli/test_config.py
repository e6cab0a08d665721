"""Settings, the user's modules, artifacts that are cleaned up, traces: as a shell user sees them."""
import json
import os
import tempfile
import time
import unittest

from program import ProgramTest


class Folders(ProgramTest):
    def setUp(self):
        super().setUp()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = os.path.realpath(scratch.name)
        self.project = os.path.join(self.root, "project")
        self.env["HOME"] = os.path.join(self.root, "home")
        os.makedirs(self.env["HOME"])
        os.makedirs(self.project)

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path


class Config(Folders):
    def config(self, *args, **options):
        code, out, err = self.run_cellar("config", "--json", "--cwd", self.project, *args, **options)
        self.assertEqual((code, err), (0, ""))
        return {key: (entry["value"], entry["origin"]) for key, entry in json.loads(out).items()}

    def test_it_shows_every_setting_and_where_it_comes_from(self):
        user = self.write("home/.config/cellar/config.json", '{"max_sessions": 1, "retry": "once"}')
        project = self.write("project/.cellar/config.json", '{"max_sessions": 2, "idle_timeout_s": 60}')
        shown = self.config("--set", "output_budget_kb=10", env={"CELLAR_IDLE_TIMEOUT_S": "90", "PI_PY": "py"})
        self.assertEqual(shown["max_sessions"], (2, project))
        self.assertEqual(shown["retry"], ("once", user))
        self.assertEqual(shown["idle_timeout_s"], (90, "environment variable CELLAR_IDLE_TIMEOUT_S"))
        self.assertEqual(shown["tool_mode"], ("ipy-only", "environment variable PI_PY"))
        self.assertEqual(shown["output_budget_kb"], (10, "--set"))
        self.assertEqual(shown["memory_cap_mb"], (0, "default"))

    def test_for_a_person_it_is_a_table(self):
        code, out, _ = self.run_cellar("config", "--cwd", self.project)
        self.assertEqual(code, 0)
        self.assertRegex(out, r"(?m)^max_sessions +256 +default +\(of the host\)$")
        self.assertRegex(out, r"(?m)^idle_timeout_s +1800.0 +default$")

    def test_what_does_not_fit_is_named_with_its_place(self):
        path = self.write("project/.cellar/config.json", '{\n  "max_sesions": 2\n}')
        code, out, err = self.run_cellar("config", "--cwd", self.project)
        self.assertEqual((code, out), (2, ""))
        self.assertIn(f"{path}: max_sesions: unknown setting", err)
        self.write("project/.cellar/config.json", '{"retry": "once", "retry": "never"}')
        self.assertIn(f"{path}: retry: stands twice", self.run_cellar("config", "--cwd", self.project)[2])
        self.write("project/.cellar/config.json", '{"idle_timeout_s": -1}')
        self.assertIn(f"{path}: idle_timeout_s: -1 is not between 0 and 31536000",
                      self.run_cellar("config", "--cwd", self.project)[2])
        os.remove(path)
        self.assertEqual(self.run_cellar("config", "--set", "nonsense"), (2, "", "cellar: --set: nonsense is not KEY=VALUE\n"))
        self.assertEqual(self.run_cellar("config", "--cwd", "/no/such")[0], 2)

    def test_settings_reach_cells(self):
        self.write("project/.cellar/config.json", '{"output_budget_kb": 1}')
        code, out, _ = self.run_cellar("eval", "--json", "--cwd", self.project, "print('x\\n' * 5000)")
        self.assertLess(json.loads(out)["cells"][0]["truncation"]["kept_bytes"], 1100)
        code, out, _ = self.run_cellar("eval", "--json", "--cwd", self.project, "--set", "output_budget_kb=50",
                                       "print('x\\n' * 5000)")
        self.assertIsNone(json.loads(out)["cells"][0]["truncation"])

    def test_a_project_cannot_let_a_secret_through_but_its_user_can(self):
        self.write("project/.cellar/config.json", '{"env_allow": ["OPENAI_API_KEY"]}')
        show = ("eval", "--cwd", self.project, "import os; os.environ.get('OPENAI_API_KEY', '-')")
        code, out, err = self.run_cellar(*show, env={"OPENAI_API_KEY": "sk-1"})
        self.assertEqual((code, out), (2, ""))
        self.assertIn("looks like a secret", err)
        os.remove(os.path.join(self.project, ".cellar", "config.json"))
        self.write("home/.config/cellar/config.json", '{"env_allow": ["OPENAI_API_KEY"]}')
        self.assertEqual(self.run_cellar(*show, env={"OPENAI_API_KEY": "sk-1"})[1], "'sk-1'\n")

    def test_nor_can_it_an_address_with_a_password(self):
        self.write("project/.cellar/config.json", '{"env_allow": ["PIP_INDEX_URL"]}')
        show = ("eval", "--cwd", self.project, "import os; os.environ['PIP_INDEX_URL']")
        self.assertEqual(self.run_cellar(*show, env={"PIP_INDEX_URL": "https://corp/simple"})[0], 0)
        code, out, err = self.run_cellar(*show, env={"PIP_INDEX_URL": "https://u:pw@corp/simple"})
        self.assertEqual((code, out), (2, ""))
        self.assertIn("looks like a secret", err)

    def test_nor_can_it_by_a_prefix(self):
        self.write("project/.cellar/config.json", '{"env_allow": ["*"]}')
        secrets = {"OPENAI_API_KEY": "1", "OPENAI_API_KEY_2": "2", "MYSQL_PWD": "3"}
        code, out, _ = self.run_cellar("eval", "--cwd", self.project, "import os; sorted(os.environ)",
                                       env={**secrets, "HARMLESS": "4"})
        self.assertEqual((code, set(eval(out)) & {*secrets, "HARMLESS"}), (0, {"HARMLESS"}))


class Modules(Folders):
    def eval(self, *cells):
        return self.run_cellar("eval", "--cwd", self.project, *cells)

    def test_those_of_the_user_and_of_the_project_are_there_in_every_cell(self):
        self.write("home/.cellar/modules/a.py", "def whose(): return 'user'\ndef mine(): return 1\n")
        self.write("home/.cellar/modules/b.py", "from_b = mine()\n")
        self.write("project/.cellar/modules/b.py", "from_b = 'project'\n")
        self.write("project/.cellar/modules/notes.txt", "not Python")
        self.assertEqual(self.eval("whose(), from_b"), (0, "('user', 'project')\n", ""))

    def test_they_find_directory_variables_and_helpers_of_the_session(self):
        self.write("project/beside.py", "name = 'beside'")
        self.write("home/.cellar/modules/a.py", "import os, beside\n"
                   "found = os.getcwd(), os.environ['A'], beside.name, callable(read)\n")
        self.assertEqual(self.eval("--env", "A=1", "found"), (0, f"({self.project!r}, '1', 'beside', True)\n", ""))

    def test_one_that_fails_is_named_once_and_the_others_are_there(self):
        path = self.write("home/.cellar/modules/a.py", "raise ValueError('broken')")
        self.write("home/.cellar/modules/b.py", "b = 1")
        self.assertEqual(self.eval("b", "b + 1"),
                         (0, "1\n2\n", f"cellar: the module {path} failed: ValueError: broken\n"))

    def test_those_of_the_project_are_run_after_those_of_the_user(self):
        self.write("home/.cellar/modules/z.py", "order = ['user z']")
        self.write("home/.cellar/modules/b.py", "order = ['never']; 1 / 0")
        self.write("project/.cellar/modules/b.py", "order.append('project b')")
        self.write("project/.cellar/modules/a.py", "order.append('project a')")
        self.assertEqual(self.eval("order"), (0, "['user z', 'project a', 'project b']\n", ""))

    def test_one_that_exits_fails_alone_also_where_its_name_is_no_text(self):
        os.makedirs(os.path.join(self.root, "home/.cellar/modules"))
        path = os.path.join(self.root, "home/.cellar/modules/a")
        with open(os.fsencode(path) + b"\xff.py", "w") as file:
            file.write("import sys; sys.exit(3)")
        self.write("home/.cellar/modules/b.py", "b = 1")
        self.assertEqual(self.eval("b"), (0, "1\n", f"cellar: the module {path}\ufffd.py failed: SystemExit: 3\n"))

    def test_what_they_bound_is_back_after_the_magic_reset(self):
        self.write("home/.cellar/modules/a.py", "base = 1\ndef more(): return base + 1\n")
        self.assertEqual(self.eval("del base; more = x = 5; %reset".replace("; %", "\n%"), "more(), 'x' in globals()", "%who"),
                         (0, "(2, False)\nno names\n", ""))

    def test_one_that_hangs_is_ended_by_the_time_out(self):
        self.write("home/.cellar/modules/a.py", "while True: pass")
        code, _, err = self.eval("--timeout", "1", "1")
        self.assertEqual(code, 1)
        self.assertIn("timed out after 1 second", err)

    def test_they_are_run_again_after_a_reset(self):
        self.write("home/.cellar/modules/a.py", "a = 1")
        request = {"cwd": self.project, "cells": [{"code": "a = 2"}, {"code": "a", "reset": True}]}
        self.assertEqual(self.run_cellar("eval", "--request", "-", input=json.dumps(request).encode())[1], "1\n")


class Artifacts(Folders):
    def test_old_ones_and_those_beyond_the_size_are_removed(self):
        state = os.path.join(self.root, "state", "cellar")
        week_ago = time.time() - 8 * 24 * 3600
        for name, size, age in (("artifacts-999999991/cellar-aaaaaaaaaaaa.txt", 10, week_ago),
                                ("artifacts-999999992/cellar-bbbbbbbbbbbb.txt", 3 << 20, time.time() - 60),
                                ("artifacts-999999992/mine.txt", 10, week_ago)):
            path = self.write(os.path.join("state/cellar", name), "x" * size)
            os.utime(path, (age, age))
        env = {"XDG_STATE_HOME": os.path.join(self.root, "state"), "CELLAR_ARTIFACTS_MAX_MB": "2"}
        code, result = self.run_json("print('x\\n' * 100_000)", env=env)
        self.assertTrue(os.path.exists(result["cells"][0]["truncation"]["artifact_path"]))
        self.assertFalse(os.path.exists(os.path.join(state, "artifacts-999999991")))
        self.assertEqual(os.listdir(os.path.join(state, "artifacts-999999992")), ["mine.txt"])


class Traces(Folders):
    def test_the_stages_of_a_start_come_with_their_times(self):
        code, out, err = self.run_cellar("eval", "1", env={"PI_DEBUG_STARTUP": "1"})
        self.assertEqual((code, out), (0, "1\n"))
        stages = ["settings read", "interpreter chosen", "template spawned", "template ready", "worker ready"]
        for stage, line in zip(stages, err.splitlines(), strict=True):
            self.assertRegex(line, rf"^cellar: start +\d+\.\d ms  {stage}")

    def test_every_frame_is_a_line_on_stderr_or_in_a_file(self):
        err = self.run_cellar("eval", "'x' * 5000", env={"PI_PYTHON_IPC_TRACE": "1"})[2]
        self.assertRegex(err, r"(?m)^cellar: frame -> (-|\d+) Execute \d+ bytes: ")
        self.assertNotIn(" type ", err)
        self.assertRegex(err, r"(?m)^cellar: frame <- \d+ Done \d+ bytes: ")
        self.assertLess(max(map(len, err.splitlines())), 700)
        path = os.path.join(self.root, "trace")
        self.assertEqual(self.run_cellar("eval", "1", env={"PI_PYTHON_IPC_TRACE": path}), (0, "1\n", ""))
        with open(path) as trace:
            self.assertIn("Execute", trace.read())
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_a_file_that_cannot_be_written_is_said(self):
        self.assertEqual(self.run_cellar("eval", "1", env={"PI_PYTHON_IPC_TRACE": "/no/such/trace"}),
                         (0, "1\n", "cellar: PI_PYTHON_IPC_TRACE: /no/such/trace: No such file or directory\n"))


if __name__ == "__main__":
    unittest.main()
