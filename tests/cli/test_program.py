"""What the program says of itself and of its surroundings: help, version, `cellar doctor`. That nothing it prints
commands the terminal."""
import json
import os
import re
import subprocess
import tempfile
import unittest

from program import ProgramTest, Terminal


class Doctor(ProgramTest):
    def test_it_shows_what_it_found_and_that_it_works(self):
        code, out, err = self.run_cellar("doctor")
        self.assertEqual((code, err), (0, ""))
        for word in ("interpreter", "libpython", "worker program", "tool mode", "pidfd", "first result", "round trip", "all is well"):
            self.assertIn(word, out)

    def test_it_tells_of_every_python_why_it_was_taken_or_passed_over(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", folder + "/venv"], check=True)
            os.mkdir(folder + "/.venv")
            code, out, _ = self.run_cellar("doctor", "--cwd", folder, env={"HOME": folder, "VIRTUAL_ENV": "/no/such"})
            self.assertEqual(code, 0)
            rows = dict(re.split(r" {2,}", line, maxsplit=1) for line in re.findall(r"^  (\S+ {2,}.*)", out, re.M))
            self.assertEqual(rows["setting"], "not given")
            self.assertIn("/no/such: passed over: ", rows["VIRTUAL_ENV"])
            self.assertEqual(rows["CONDA_PREFIX"], "not set")
            self.assertIn("passed over: there is no bin/python in", rows[".venv"])
            self.assertEqual(rows["venv"], f"{folder}/venv: taken")
            self.assertRegex(rows["PATH"], "^/usr/bin/python.*: not looked at, since another one comes first$")
            self.assertIn("built-in", rows)

    def test_it_names_the_problem(self):
        code, out, _ = self.run_cellar("doctor", env={"PYTHONHOME": "/no/such"})
        self.assertEqual(code, 3)
        self.assertIn("PROBLEM", out)
        self.assertRegex(out, r"tool mode +bash-only")


class Program(ProgramTest):
    def test_without_arguments_and_terminal_it_shows_its_help(self):
        code, out, _ = self.run_cellar()
        self.assertEqual(code, 0)
        self.assertIn("eval", out)

    def test_mistakes_are_named(self):
        for args, problem in ((["evl", "1"], "there is no command evl"),
                              (["notebook", "frob"], "there is no command frob"),
                              (["--frob"], "The following argument was not expected: --frob"),
                              (["eval", "--frob", "1"], "The following argument was not expected: --frob"),
                              (["sessions", "-s", "work", "1"], "The following arguments were not expected: -s work 1"),
                              (["wait", "call-1", "--limit", "-1"], "--limit: expected seconds, between 0 and 86400"),
                              (["eval", "--mode", "weekly", "1"], "--mode: expected per-call or session"),
                              (["eval", "-s", "", "1"], "--session: the name is empty")):
            self.assertEqual(self.run_cellar(*args),
                             (2, "", f"cellar: {problem}\ncellar: run with --help for more information\n"))

    def test_it_knows_its_version(self):
        self.assertRegex(self.run_cellar("--version")[1], r"^cellar \d+\.\d+\.\d+\n$")


class OnATerminal(ProgramTest):
    EVIL = "a\x7f\x9b31m\u202eb\u2066"

    def printed(self, *args):
        terminal = Terminal(self, *args)
        self.assertIsNotNone(terminal.exit_code())
        text = terminal.output.decode()
        self.assertNotRegex(text, "[\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
        return text

    def test_json_of_a_call_does_not_command_it(self):
        result = json.loads(self.printed("eval", "--json", f"raise ValueError({self.EVIL!a})"))
        self.assertEqual(result["cells"][0]["error"]["evalue"], self.EVIL)

    def test_json_of_the_settings_does_not_command_it(self):
        self.env["CELLAR_ENV_ALLOW"] = self.EVIL
        self.assertIn(self.EVIL, json.loads(self.printed("config", "--json"))["env_allow"]["value"])

    def test_a_notebook_does_not_command_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.ipynb")
            made = self.printed("notebook", "insert", path, "0", "--source", self.EVIL, "--json")
            self.assertEqual(json.loads(made)["source"], self.EVIL)
            self.assertIn(r"a\u007f\u009b31m\u202eb\u2066", self.printed("notebook", "show", path))
            raw = json.loads(self.printed("notebook", "show", "--raw", path))
            self.assertEqual(raw["cells"][0]["source"], [self.EVIL])


if __name__ == "__main__":
    unittest.main()
