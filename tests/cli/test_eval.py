"""`cellar eval` as a shell user and a program see it."""
import gzip
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import zipfile

from program import CELLAR, SLOWNESS, ProgramTest, Screen, Terminal, processes_of, wait_until, without_colour


class EvalText(ProgramTest):
    def test_a_cell_that_is_a_list_stays_one_cell(self):
        self.assertEqual(self.run_cellar("eval", "[1, 2]", "--title", "[a, b]", "[x for x in 'ab']"),
                         (0, "[1, 2]\n['a', 'b']\n", ""))
        self.assertEqual(self.run_cellar("eval", "--", "[]"), (0, "[]\n", ""))

    def test_each_argument_is_a_cell_of_one_session(self):
        self.assertEqual(self.run_cellar("eval", "import math", "math.pi"), (0, "3.141592653589793\n", ""))

    def test_the_first_failing_cell_stops_the_call(self):
        code, out, err = self.run_cellar("eval", "print('a')", "1/0", "print('never')")
        self.assertEqual((code, out), (1, "a\n"))
        self.assertEqual(err, "Traceback (most recent call last):\n"
                              "  File \"<cell 2>\", line 1, in <module>\n"
                              "    1/0\n"
                              "    ~^~\n"
                              "ZeroDivisionError: division by zero\n"
                              "cellar: cell 2 of 3 failed; 1 was not run\n")

    def test_a_cell_that_ends_in_spite_of_an_interrupt_has_not_failed(self):
        process = self.start("eval", "import time\ntry: print('on', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: pass",
                             "print('never')")
        self.assertEqual(process.stdout.readline(), b"on\n")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        self.assertEqual((process.returncode, out), (130, b""))
        self.assertIn(b"cellar: interrupted after cell 1 of 2; 1 was not run\n", err)

    def test_a_file_is_one_cell(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write("x = 20\nx + 1\n")
            file.flush()
            self.assertEqual(self.run_cellar("eval", "-f", file.name, "x"), (0, "21\n20\n", ""))

    def test_a_byte_order_mark_is_not_part_of_a_file(self):
        with tempfile.NamedTemporaryFile("w", encoding="utf-8-sig") as file:
            file.write("'ü'")
            file.flush()
            self.assertEqual(self.run_cellar("eval", "-f", file.name), (0, "'ü'\n", ""))

    def test_a_cell_may_be_indented_as_a_whole(self):
        code, out, err = self.run_cellar(
            "eval", "   x = 1\n   s = '''a\n   b\nc'''\n\n   x, s", "\t# two\n\tif x:\n\t\ty = 2\n\ty", "  x;",
            "  x\n  !echo $x", "  %%time\n  y = 3",
            "  from __future__ import annotations\n  import asyncio\n  await asyncio.sleep(0, y)")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"\A\(1, 'a\\n   b\\nc'\)\n2\n1\n.*\nWall time: .*\n3\n\Z")

    def test_errors_of_an_indented_cell_are_shown_as_it_stands(self):
        for cell, shown in (
                ("    def f():\n        1/0\n    f()",
                 'Traceback (most recent call last):\n  File "<cell 1>", line 3, in <module>\n    f()\n'
                 '  File "<cell 1>", line 2, in f\n    1/0\n    ~^~\nZeroDivisionError: division by zero\n'),
                ("  x = 1\n  for i in 1,:\n  i",
                 '  File "<cell 1>", line 3\n    i\n    ^\n'
                 "IndentationError: expected an indented block after 'for' statement on line 2\n"),
                ("  x = 1\ny = 2", '  File "<cell 1>", line 1\n    x = 1\nIndentationError: unexpected indent\n'),
                ("  x = 1\nelse:\n  y", '  File "<cell 1>", line 1\n    x = 1\nIndentationError: unexpected indent\n')):
            with self.subTest(cell):
                self.assertEqual(self.run_cellar("eval", cell), (1, "", shown))

    def test_leaving_pdb_is_no_damage(self):
        leave = "import pdb, signal; signal.signal(signal.SIGINT, pdb.Pdb().sigint_handler);"  # as `c` does
        self.assertEqual(self.run_cellar("eval", leave, "1 + 1"), (0, "2\n", ""))

    def test_a_dash_reads_a_cell_from_standard_input(self):
        self.assertEqual(self.run_cellar("eval", "-", input=b"print('from stdin')\n"), (0, "from stdin\n", ""))

    def test_streams_go_where_they_belong_and_bytes_pass_through_a_pipe_unchanged(self):
        code, out, err = self.run_cellar("eval", "import sys; print('\\x1b[1mo'); print('e', file=sys.stderr)")
        self.assertEqual((code, out, err), (0, "\x1b[1mo\n", "e\n"))

    def test_newlines_are_those_that_a_cell_asks_for(self):
        out = self.run_cellar("eval", r"import sys; sys.stdout.reconfigure(newline='\r\n'); print('a')",
                              r"sys.stdout.reconfigure(newline='\r\n'); sys.stdout.reconfigure(newline='\n'); print('b')")[1]
        self.assertEqual(out, "a\r\nb\n")

    def test_output_comes_while_the_cell_runs(self):
        process = self.start("eval", "import time; print('now', flush=True); time.sleep(60)", "--timeout", "0")
        self.assertEqual(process.stdout.readline(), b"now\n")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 130)

    def test_a_reader_that_goes_away_is_no_hang(self):
        process = self.start("eval", "--timeout", "0", "while True: print('x' * 1000)")
        process.stdout.read(10)
        process.stdout.close()
        self.assertNotEqual(process.wait(20), 0)

    def test_what_cannot_be_written_is_no_success(self):
        with open("/dev/full", "w") as full:
            for args in (["eval", "1"], ["eval", "--json", "1"], ["eval", "--describe"], ["config"]):
                process = self.start(*args, stdout=full)
                self.assertEqual((process.stderr.read(), process.wait()),
                                 (b"cellar: writing standard output: No space left on device\n", 3), args)
        for args in (["eval", "1"], ["eval", "--json", "1"]):
            process = self.start(*args)
            process.stdout.close()
            self.assertEqual((process.stderr.read(), process.wait()), (b"", 128 + signal.SIGPIPE), args)

    def test_a_result_has_a_line_of_its_own_in_a_pipe_too(self):
        self.assertEqual(self.run_cellar("eval", "print('a', end=''); 42"), (0, "a\n42\n", ""))
        self.assertEqual(self.run_cellar("eval", "print('a', end='')"), (0, "a", ""))
        written = "import sys; print('o', end=''); print('e', end='', file=sys.stderr); sys.exit('why')"
        self.assertEqual(self.run_cellar("eval", written), (1, "o", "e\nSystemExit: why\n"))
        process = self.start("eval", "print('o', end='', flush=True); exit('why')", stderr=subprocess.STDOUT)
        self.assertEqual(process.communicate()[0], b"o\nSystemExit: why\n")

    def test_a_time_out_ends_the_cell_and_says_so(self):
        code, _, err = self.run_cellar("eval", "--timeout", "1", "import time; time.sleep(60)")
        self.assertEqual(code, 1)
        self.assertIn("timed out after 1 second", err)
        self.assertIn("state kept", err)

    def test_the_cells_see_the_directory_and_variables_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, _ = self.run_cellar("eval", "--cwd", folder, "--env", "A=1", "--env", "LANG",
                                           "import os, sys; os.getcwd(), sys.path[0], os.environ['A'], 'LANG' in os.environ")
            self.assertEqual(eval(out), (os.path.realpath(folder), os.path.realpath(folder), "1", False))

    def test_cells_have_the_limit_of_open_files_that_their_user_has(self):
        limits = "import resource; resource.getrlimit(resource.RLIMIT_NOFILE)"
        with_limits = ["/bin/sh", "-c", "ulimit -Sn 300; exec \"$0\" eval \"$1\"", CELLAR, limits]
        out = subprocess.run(with_limits, env=self.env, capture_output=True, timeout=30).stdout.decode()
        self.assertEqual(eval(out)[0], 300)

    def test_secrets_of_the_host_stay_out_of_cells(self):
        code, out, _ = self.run_cellar("eval", "import os; os.environ.get('OPENAI_API_KEY') or 'nothing'",
                                       env={"OPENAI_API_KEY": "sk-1"})
        self.assertEqual((code, out), (0, "'nothing'\n"))

    def test_a_preload_that_fails_is_said(self):
        with tempfile.TemporaryDirectory() as home:
            os.makedirs(os.path.join(home, ".config", "cellar"))
            with open(os.path.join(home, ".config", "cellar", "config.json"), "w") as file:
                file.write('{"preload": ["json", "no_such_module"]}')
            code, out, err = self.run_cellar("eval", "import sys; 'json' in sys.modules", env={"HOME": home})
            self.assertEqual((code, out), (0, "True\n"))
            self.assertIn("no_such_module", err)

    def test_a_time_out_that_is_out_of_range_is_clamped_and_said(self):
        self.assertEqual(self.run_cellar("eval", "--timeout", "0.2", "1"),
                         (0, "1\n", "cellar: timeout 0.2 s was clamped to 1 s\n"))
        self.assertEqual(self.run_cellar("eval", "--timeout", "99999", "1"),
                         (0, "1\n", "cellar: timeout 99999 s was clamped to 3600 s\n"))

    def test_a_cell_that_survives_its_time_out_still_says_so(self):
        code, _, err = self.run_cellar("eval", "--timeout", "1", "import time\ntry: time.sleep(60)\n"
                                       "except KeyboardInterrupt: pass")
        self.assertEqual(code, 0)
        self.assertIn("timed out after 1 second", err)


class EvalJson(ProgramTest):
    def test_the_result_has_the_documented_fields(self):
        code, result = self.run_json("import sys; print('out'); print('err', file=sys.stderr); 6 * 7")
        self.assertEqual(code, 0)
        self.assertEqual(sorted(result), ["background", "cells", "session", "status", "text"])
        self.assertEqual(result["status"], "ok")
        self.assertEqual(result["text"], "out\nerr\n42")
        cell = result["cells"][0]
        self.assertEqual(cell["outputs"], [{"type": "stdout", "text": "out\n"}, {"type": "stderr", "text": "err\n"},
                                           {"type": "result", "data": {"text/plain": "42"}, "metadata": {}}])
        self.assertEqual((cell["status"], cell["execution_count"], cell["runs"], cell["error"], cell["state"]),
                         ("complete", 1, 1, None, "kept"))

    def test_an_error_is_data_and_later_cells_are_not_run(self):
        code, result = self.run_json("raise ValueError('no')", "2")
        self.assertEqual((code, result["status"]), (1, "error"))
        self.assertEqual(result["cells"][0]["error"]["ename"], "ValueError")
        self.assertEqual(result["cells"][0]["error"]["evalue"], "no")
        self.assertEqual(result["cells"][1]["status"], "not_run")
        self.assertEqual(result["cells"][1]["outputs"], [])

    def test_images_are_base64_and_nan_breaks_nothing(self):
        code, result = self.run_json(
            "class P:\n  def _repr_png_(self): return b'\\x89PNG'\ndisplay({'a': float('nan'), 'b': b'x'})\nP()")
        self.assertEqual(code, 0)
        display, value = result["cells"][0]["outputs"]
        self.assertEqual(display["data"]["application/json"], {"a": "NaN", "b": "eA=="})
        self.assertEqual(value["data"]["image/png"], "iVBORw==")

    def test_system_exit_carries_its_code(self):
        code, result = self.run_json("import sys; sys.exit(3)")
        self.assertEqual(code, 1)
        self.assertEqual(result["cells"][0]["error"]["ename"], "SystemExit")
        self.assertEqual(result["cells"][0]["error"]["exit_code"], 3)

    def test_a_crash_is_an_answer(self):
        code, result = self.run_json("print('before'); import ctypes; ctypes.string_at(0)")
        cell = result["cells"][0]
        self.assertEqual((code, cell["status"], cell["state"]), (1, "error", "lost"))
        self.assertEqual(cell["outputs"], [{"type": "stdout", "text": "before\n"}])
        self.assertIn("SIGSEGV", cell["state_detail"])
        self.assertIn('"<cell 1>", line 1', cell["error"]["traceback"])

    def test_input_is_refused_and_said(self):
        code, result = self.run_json("input('name? ')")
        self.assertEqual((code, result["cells"][0]["stdin_requested"]), (1, True))


class EvalLimits(ProgramTest):
    def test_an_interrupt_says_after_how_long_and_that_the_state_is_kept(self):
        code, result = self.run_json("--timeout", "1", "print('on'); import time; time.sleep(60)")
        cell = result["cells"][0]
        self.assertEqual((code, cell["state"], cell["timed_out"], cell["cancelled"]), (1, "kept", True, True))
        self.assertTrue(result["text"].startswith("on\n"), result["text"])
        self.assertRegex(result["text"], r"\[timed out after 1 second\]\n\[interrupted after \d(\.\d)? s, state kept\]$")

    def test_a_cell_that_does_not_react_is_killed_after_the_grace_of_the_settings(self):
        stubborn = "print('on')\nimport time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass"
        code, result = self.run_json("--timeout", "1", "--set", "interrupt_grace_s=0.2", stubborn)
        cell = result["cells"][0]
        self.assertEqual((code, cell["state"], cell["outputs"][0]["text"]), (1, "lost", "on\n"))
        self.assertIn("killed, state lost", cell["state_detail"])
        self.assertLess(cell["duration_ms"], 3000)

    @unittest.skipIf(SLOWNESS > 1, "a sanitizer's own memory would count")
    def test_memory_at_the_cap_is_an_error_of_the_cell_that_says_how_much_there_is(self):
        code, result = self.run_json("--set", "memory_cap_mb=200", "x = 1", "bytearray(500 << 20)")
        cell = result["cells"][1]
        self.assertEqual((code, cell["error"]["ename"], cell["state"]), (1, "MemoryError", "kept"))
        self.assertIn("[the session may use 200 MiB of memory (memory_cap_mb)]", result["text"])


class EvalRequest(ProgramTest):
    def request(self, request, *args, **options):
        code, out, err = self.run_cellar("eval", "--request", "-", "--json", *args,
                                         input=json.dumps(request).encode(), **options)
        self.assertEqual(err, "")
        return code, json.loads(out)

    def refused(self, request):
        text = request if isinstance(request, str) else json.dumps(request)
        code, out, err = self.run_cellar("eval", "--request", "-", "--json", input=text.encode())
        self.assertEqual((code, json.loads(out)["status"]), (2, "error"))
        return err

    def test_a_whole_call_comes_as_json(self):
        with tempfile.TemporaryDirectory() as folder:
            code, result = self.request({"cwd": folder, "env": {"A": "1", "LANG": None},
                                         "cells": [{"code": "import os", "title": "first"},
                                                   {"code": "os.getcwd(), os.environ['A'], 'LANG' in os.environ"}]})
        self.assertEqual((code, result["status"]), (0, "ok"))
        self.assertEqual(result["text"], f"[1/2] first\n(no output)\n[2/2]\n{(os.path.realpath(folder), '1', False)!r}")

    def test_a_session_that_is_named_but_does_not_last_says_so(self):
        code, result = self.request({"session": "work", "cells": [{"code": "1"}]})
        self.assertEqual(result["session"], {
            "id": "work", "state": "fresh",
            "reason": "the session ends with this command; with -s work it lasts; this cell ran in a fresh session"})
        code, result = self.request({"session": "work", "mode": "per-call", "cells": [{"code": "1"}]})
        self.assertEqual(result["session"], {"id": "work", "state": "kept", "reason": ""})

    def test_it_may_come_from_a_file_and_be_shown_as_text(self):
        with tempfile.NamedTemporaryFile("w") as file:
            json.dump({"cells": [{"code": "6 * 7"}]}, file)
            file.flush()
            self.assertEqual(self.run_cellar("eval", "--request", file.name), (0, "42\n", ""))

    def test_the_older_shape_resets_before_the_first_cell_only(self):
        code, result = self.request({"timeout": 5, "reset": True, "cells": [{"code": "x = 1"}, {"code": "x"}]})
        self.assertEqual((code, result["text"].endswith("1")), (0, True))

    def test_reset_gives_a_fresh_namespace_before_its_cell(self):
        code, result = self.request({"cells": [{"code": "x = 1"}, {"code": "'x' in globals()", "reset": True}]})
        self.assertEqual(result["cells"][1]["outputs"][0]["data"]["text/plain"], "False")
        self.assertEqual([cell["execution_count"] for cell in result["cells"]], [1, 1])

    def test_every_wrong_field_is_named_and_nothing_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            touched = os.path.join(folder, "touched")
            err = self.refused({"mode": "weekly", "cells": [{"code": f"open({touched!r}, 'w')"},
                                                            {"code": 1, "timeout": "5"}]})
            self.assertFalse(os.path.exists(touched))
        self.assertIn('mode: expected "session" or "per-call", found "weekly"', err)
        self.assertIn("cells[1].code: expected a string, found number", err)
        self.assertIn("cells[1].timeout: expected a number of seconds", err)

    def test_what_is_no_request_is_refused(self):
        self.assertIn("line 1", self.refused("{"))
        self.assertIn("cells", self.refused({"cells": []}))
        self.assertEqual(self.refused({"background_after": 1, "cells": [{"code": "1"}]}),
                         "cellar: background_after: needs a session that outlives this command: give its name with -s\n")
        self.assertIn("parent: needs a session", self.refused({"parent": "call-1", "cells": [{"code": "1"}]}))
        for cwd in ("/no/such", __file__):
            self.assertIn(f"cwd: {cwd}: ", self.refused({"cwd": cwd, "cells": [{"code": "1"}]}))

    def test_clamped_timeouts_are_said(self):
        code, result = self.request({"cells": [{"code": "1", "timeout": 0.5}]})
        self.assertEqual(result["cells"][0]["notices"], ["timeout 0.5 s was clamped to 1 s"])

    def test_retry_once_runs_a_first_cell_again(self):
        with tempfile.TemporaryDirectory() as folder:
            cell = {"code": "open('runs', 'a').write('.'); import os; os._exit(3)"}
            code, result = self.request({"cwd": folder, "retry": "once", "cells": [cell]})
            self.assertEqual((code, result["cells"][0]["runs"]), (1, 2))
            with open(os.path.join(folder, "runs")) as runs:
                self.assertEqual(runs.read(), "..")


class EvalOptions(ProgramTest):
    def test_titles_are_for_the_cells_in_order(self):
        code, result = self.run_json("--title", "one", "--title", "two", "1", "2", "3")
        self.assertEqual([cell["title"] for cell in result["cells"]], ["one", "two", ""])
        self.assertEqual(self.run_cellar("eval", "--title", "a", "--title", "b", "1")[0], 2)

    def test_mode_retry_and_reset_are_taken(self):
        code, result = self.run_json("--mode", "per-call", "--retry", "once", "--reset", "import os; os._exit(3)")
        self.assertEqual((code, result["cells"][0]["runs"]), (1, 2))
        for bad in (["--mode", "weekly"], ["--retry", "twice"], ["--request", "-", "--reset"],
                    ["--request", "-", "1"]):
            self.assertEqual(self.run_cellar("eval", *bad)[0], 2, bad)

    def test_describe_prints_the_schema_and_the_tool_mode(self):
        code, out, err = self.run_cellar("eval", "--describe")
        self.assertEqual((code, err), (0, ""))
        tool = json.loads(out)
        self.assertEqual((tool["tool_mode"], tool["offered"]), ("both", True))
        self.assertEqual(tool["input_schema"]["required"], ["cells"])
        for name, mode in {"0": "bash-only", "bash": "bash-only", "1": "ipy-only", "py": "ipy-only", "mix": "both",
                           "both": "both"}.items():
            tool = json.loads(self.run_cellar("eval", "--describe", env={"PI_PY": name, "PI_PYTHON_SKIP_CHECK": "1"})[1])
            self.assertEqual(tool["tool_mode"], mode, name)

    def test_without_a_python_that_starts_there_is_only_the_shell(self):
        tool = json.loads(self.run_cellar("eval", "--describe", env={"PYTHONHOME": "/no/such"})[1])
        self.assertEqual((tool["tool_mode"], tool["offered"]), ("bash-only", False))
        self.assertIn("Python could not start", tool["reason"])
        unchecked = json.loads(self.run_cellar("eval", "--describe", env={"PYTHONHOME": "/no/such",
                                                                          "PI_PYTHON_SKIP_CHECK": "1"})[1])
        self.assertEqual(unchecked["tool_mode"], "both")

    def test_an_unknown_tool_mode_is_an_error(self):
        code, _, err = self.run_cellar("eval", "1", env={"PI_PY": "sometimes"})
        self.assertEqual(code, 2)
        self.assertIn("PI_PY", err)


class EvalBadInput(ProgramTest):
    def refused(self, *args, code=2, **options):
        got, out, err = self.run_cellar(*args, **options)
        self.assertEqual((got, out), (code, ""), err)
        self.assertTrue(err.strip())
        return err

    def test_unknown_option(self):
        self.assertIn("--bogus", self.refused("eval", "--bogus", "1"))

    def test_unknown_command(self):
        self.refused("frobnicate")

    def test_nothing_to_run(self):
        self.assertIn("nothing to run", self.refused("eval"))

    def test_empty_cell(self):
        self.assertEqual(self.refused("eval", "1", ""), "cellar: cell 2 is empty\n")

    def test_missing_file(self):
        self.assertEqual(self.refused("eval", "-f", "/no/such.py"),
                         "cellar: reading /no/such.py: No such file or directory\n")

    def test_bytes_that_are_not_utf8(self):
        self.assertEqual(self.refused("eval", "-", input=b"x = '\xff'"), "cellar: cell 1 is not valid UTF-8 (byte 5)\n")
        with tempfile.NamedTemporaryFile(suffix=".py") as file:
            file.write(b"x = '\xff'")
            file.flush()
            self.assertEqual(self.refused("eval", "-f", file.name), f"cellar: {file.name} is not valid UTF-8 (byte 5)\n")

    def test_nul_in_code(self):
        self.assertEqual(self.refused("eval", "-", input=b"x\0"), "cellar: cell 1 has a NUL character (byte 1)\n")

    def test_missing_directory(self):
        self.assertIn("/no/such", self.refused("eval", "--cwd", "/no/such", "1"))

    def test_a_time_out_that_is_no_number(self):
        for timeout in ("nan", "inf", "soon"):
            self.assertIn("--timeout", self.refused("eval", "--timeout", timeout, "1"))

    def test_syntax_error_is_the_caret_block_only(self):
        code, out, err = self.run_cellar("eval", "def f(:")
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, '  File "<cell 1>", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax\n')

    def test_missing_worker_program(self):
        err = self.refused("eval", "1", code=2, env={"CELLAR_WORKER": "/no/such/worker"})
        self.assertIn("/no/such/worker", err)

    def test_a_worker_program_that_is_something_else(self):
        err = self.refused("eval", "1", code=3, env={"CELLAR_WORKER": "/bin/true"})
        self.assertIn("/bin/true", err)

    def test_a_python_that_cannot_start(self):
        err = self.refused("eval", "1", code=3, env={"PYTHONHOME": "/no/such"})
        self.assertIn("Python could not start", err)
        self.assertIn("PYTHONHOME = '/no/such'", err)


class EvalOnATerminal(ProgramTest):
    def test_errors_are_red_and_plain_with_no_color(self):
        terminal = Terminal(self, "eval", "1/0")
        self.assertEqual(terminal.exit_code(), 1)
        self.assertIn(b"\x1b[31mTraceback", terminal.output)
        plain = Terminal(self, "eval", "1/0", env={"NO_COLOR": "1"})
        plain.exit_code()
        self.assertEqual(without_colour(plain.output.decode()), plain.output.decode())

    def test_each_cell_of_several_has_a_line_that_says_how_it_ended(self):
        screen = Screen(self, "eval", "--title", "load", "print('out')", "import time; time.sleep(3)", "1 / 0", "4",
                        stays=True)
        screen.wait_to_show("out\n[1/4] load: ok, ")
        screen.wait_to_match(r"\n\S \[2/4\]  [12]\.\d s\n· \[3/4\]\n· \[4/4\]")
        screen.wait_to_show("division by zero\n[3/4]: failed, ")
        self.assertNotIn("· [4/4]", screen.text())

    def test_output_cannot_drive_the_terminal(self):
        terminal = Terminal(self, "eval", r"print('a\x1b]0;title\x07b\x1b[2Jc\x9b2Jd\u202ee')")
        self.assertEqual(terminal.exit_code(), 0)
        shown = terminal.output.rpartition(b"\x1b[J")[2]  # of a cell that took long there is a line before
        self.assertEqual(shown, b"abcde\r\n")

    def test_ctrl_c_interrupts_the_cell(self):
        terminal = Terminal(self, "eval", "--timeout", "0", "print('go'); import time; time.sleep(60)")
        terminal.wait_for("go")
        terminal.send("\x03")
        terminal.wait_for("KeyboardInterrupt")
        self.assertEqual(terminal.exit_code(), 130)

    def test_a_second_ctrl_c_ends_the_program(self):
        terminal = Terminal(self, "eval", "--timeout", "0", "import time\nwhile True:\n"
                            "  try: print('go'); time.sleep(60)\n  except KeyboardInterrupt: print('ignored')")
        terminal.wait_for("go")
        terminal.send("\x03")
        terminal.wait_for("ignored")
        terminal.send("\x03")
        terminal.wait_for("cellar: left: the cell that was running is killed, and its session is gone")
        self.assertEqual(terminal.exit_code(), 130)

    def test_long_output_on_a_terminal_is_left_out_and_the_file_that_has_it_is_named(self):
        terminal = Terminal(self, "eval", "for i in range(40000): print(i)")
        terminal.wait_for("39980 lines left out")
        terminal.wait_for("cellar: the output is in /")
        self.assertEqual(terminal.exit_code(), 0)


class EvalLeavesNothing(ProgramTest):
    CHILDREN = ("import subprocess, time\n"
                "for i in range(20): subprocess.Popen(['sleep', '600'], start_new_session=bool(i % 2))\n"
                "print('ready', flush=True)\n")

    def kill_in(self, cell, timeout_s=0.5):
        process = self.start("eval", "--timeout", "0", cell)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        self.assertTrue(processes_of(self.mark))
        process.kill()
        killed = time.monotonic()
        process.wait()
        wait_until(lambda: not processes_of(self.mark), "every process gone", 5)
        self.assertLess(time.monotonic() - killed, timeout_s + 1.0)  # the bar is 0.5 s; this machine may be busy

    def test_when_it_is_killed_while_children_run(self):
        self.kill_in(self.CHILDREN + "time.sleep(600)")

    def test_when_it_is_killed_while_c_code_holds_the_gil(self):
        self.kill_in(self.CHILDREN + "import ctypes; ctypes.PyDLL(None).sleep(600)")

    def test_when_it_is_killed_while_the_worker_is_stopped(self):
        self.kill_in(self.CHILDREN + "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)")

    def test_when_it_is_killed_while_the_keeper_is_stopped(self):
        self.kill_in(self.CHILDREN + "import os, signal; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(600)")

    def test_when_it_is_told_to_end(self):
        process = self.start("eval", "--timeout", "0", self.CHILDREN + "time.sleep(600)")
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.terminate()
        self.assertEqual(process.wait(10), 128 + signal.SIGTERM)

    def test_of_children_that_a_finished_cell_left_running(self):
        self.assertEqual(self.run_cellar("eval", self.CHILDREN)[:2], (0, "ready\n"))

    def test_files_that_no_cell_closed_are_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            cells = (f"import gzip, os, zipfile; os.chdir({folder!r}); text = open('text', 'w'); text.write('hello');",
                     "def keep(files=[]): return files\n"  # of a function, which does not go
                     "keep().append(gzip.open('gzip', 'wt')); keep()[0].write('hello')\n"
                     "archive = zipfile.ZipFile('zip', 'w'); archive.writestr('name', 'hello')")
            for run in (lambda: self.run_cellar("eval", *cells), lambda: self.run_in_session(*cells)):
                self.assertEqual(run(), (0, "", ""))
                with open(os.path.join(folder, "text")) as text:
                    self.assertEqual(text.read(), "hello")
                with gzip.open(os.path.join(folder, "gzip"), "rt") as text:
                    self.assertEqual(text.read(), "hello")
                with zipfile.ZipFile(os.path.join(folder, "zip")) as archive:
                    self.assertEqual(archive.read("name"), b"hello")
                for name in os.listdir(folder):
                    os.remove(os.path.join(folder, name))

    def run_in_session(self, *cells):
        with tempfile.TemporaryDirectory() as runtime:
            options = {"env": {"XDG_RUNTIME_DIR": runtime}}
            result = self.run_cellar("eval", "-s", "x", *cells, **options)
            self.run_cellar("close", "x", **options)
            self.run_cellar("daemon", "stop", **options)
            return result

    def test_values_see_what_was_there_before_them_when_they_go(self):
        self.assertEqual(self.run_cellar("eval", "import os; name = 'A'\nclass A:\n"
                                         "    def __del__(self): print(name, os.sep)\na = A()"), (0, "A /\n", ""))

    def test_a_thread_finds_its_variables_until_the_end(self):
        self.assertEqual(self.run_cellar("eval", "import threading; n = 0\ndef count():\n    global n\n    while True: n += 1\n"
                                         "threading.Thread(target=count, daemon=True).start()"), (0, "", ""))

    def test_exit_handlers_run_at_the_end(self):
        self.assertEqual(self.run_cellar("eval", "import atexit; atexit.register(lambda: print('bye'))\n1;")[1], "bye\n")


if __name__ == "__main__":
    unittest.main()
