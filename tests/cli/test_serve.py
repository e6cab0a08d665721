"""`cellar serve` as a program sees it that runs cells over a pipe."""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from line_client import LineClient
from program import CELLAR, DEADLINE_S, SLOWNESS, ProgramTest, until_there, wait_until
from server import ServeTest


class Calls(ServeTest):
    def test_the_first_frame_says_who_and_what(self):
        client = self.serve()
        self.assertEqual(client.hello["type"], "hello")
        self.assertEqual(client.hello["protocol"], 1)
        self.assertEqual(client.hello["tool_mode"], "both")
        self.assertEqual(client.hello["pid"], self.process.pid)
        self.assertIn("eval", client.hello["requests"])
        self.assertEqual(self.end(client), ([], 0))

    def test_a_call_streams_what_its_cells_do_and_ends_with_the_result(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[
            {"code": "import sys; print('out'); print('err', file=sys.stderr); display({'k': 1}); 6 * 7", "title": "t"},
            {"code": "1/0"}, {"code": "'never'"}])
        frames = client.frames_of("a")
        self.assertEqual([(f["type"], f.get("cell")) for f in frames],
                         [("started", 0), ("stdout", 0), ("stderr", 0), ("display", 0), ("result", 0), ("finished", 0),
                          ("started", 1), ("error", 1), ("finished", 1), ("done", None)])
        started, out, err, display, result, finished, _, error, failed, done = frames
        self.assertEqual(started["title"], "t")
        self.assertEqual((out["text"], err["text"]), ("out\n", "err\n"))
        self.assertEqual(display["data"]["application/json"], {"k": 1})
        self.assertEqual(result["data"], {"text/plain": "42"})
        self.assertEqual((finished["status"], finished["execution_count"]), ("complete", 1))
        self.assertEqual((error["ename"], failed["status"]), ("ZeroDivisionError", "error"))
        self.assertEqual((done["status"], done["result"]["status"]), ("error", "error"))
        self.assertEqual([cell["status"] for cell in done["result"]["cells"]], ["complete", "error", "not_run"])
        # The frames of outputs are the outputs of the result.
        streamed = [{k: v for k, v in f.items() if k not in ("id", "cell")} for f in (out, err, display, result)]
        self.assertEqual(streamed, done["result"]["cells"][0]["outputs"])

    def test_output_comes_while_the_cell_runs(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[{"code": "print('now')\nimport time; time.sleep(60)"}])
        self.assertIn("now", client.next_frame("a", "stdout")["text"])
        self.assertEqual(client.ask("cancel", call="a")["status"], "ok")
        self.assertEqual(client.done("a")["status"], "cancelled")

    def test_state_lasts_and_sessions_are_apart(self):
        client = self.serve()
        client.eval("x = 1", session="one")
        client.eval("x = 2", session="two")
        self.assertEqual(client.value("x", session="one"), "1")
        self.assertEqual(client.value("x", session="two"), "2")

    def test_many_calls_on_many_sessions_are_under_way_at_once(self):
        client = self.serve()
        with tempfile.TemporaryDirectory() as folder:
            # Each waits until all have begun.
            code = ("import os, time\n"
                    f"open(os.path.join({folder!r}, name), 'w').close()\n"
                    f"while len(os.listdir({folder!r})) < 6: time.sleep(0.01)\n"
                    "name")
            for i in range(6):
                client.send(id=i, type="eval", session=f"s{i}", cells=[{"code": f"name = 's{i}'"}, {"code": code}])
            for i in range(6):
                self.assertIn(f"'s{i}'", client.done(i)["result"]["text"])

    def test_a_queued_call_can_be_cancelled(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[{"code": "import time; time.sleep(60)"}])
        client.next_frame("a", "started")
        client.send(id="b", type="eval", cells=[{"code": "1"}])
        self.assertEqual(client.ask("cancel", call="b")["status"], "ok")
        self.assertEqual(client.done("b")["status"], "cancelled")
        self.assertEqual(client.ask("cancel", call="b")["error"]["ename"], "NotFound")
        client.ask("cancel", call="a")
        self.assertEqual(client.done("a")["result"]["cells"][0]["state"], "kept")

    def test_a_worker_that_dies_is_told_and_the_server_goes_on(self):
        client = self.serve()
        done = client.eval("import os; os.kill(os.getpid(), 9)")
        self.assertEqual(done["result"]["cells"][0]["error"]["ename"], "WorkerDied")
        self.assertEqual(client.eval("1 + 1")["result"]["cells"][0]["state"], "fresh")

    def test_characters_that_come_in_parts_stay_whole(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[{"code": (
            "import os, time\n"
            "for byte in 'é€😀'.encode() + b'\\xff': os.write(1, bytes([byte])); time.sleep(0.02)")}])
        text = "".join(f["text"] for f in client.frames_of("a") if f["type"] == "stdout")
        self.assertEqual(text, "é€😀\ufffd")

    def test_characters_of_background_output_that_come_in_parts_stay_whole(self):
        client = self.serve()
        folder = self.enterContext(tempfile.TemporaryDirectory())
        first, second, last = (os.path.join(folder, name) for name in ("first", "second", "last"))
        client.eval("import os, sys, threading, time\n"
                    "def write():\n"
                    f"    for gate, part in (({first!r}, b'a\\xc3'), ({second!r}, b'\\xa9\\n')):\n"
                    "        while not os.path.exists(gate): time.sleep(0.01)\n"
                    "        sys.stdout.buffer.write(part); sys.stdout.flush()\n"
                    "threading.Thread(target=write, daemon=True).start()")
        client.send(id="a", type="eval", cells=[{"code": until_there(last)}])
        client.next_frame("a", "started")
        for gate, text in ((first, "a"), (second, "é\n")):
            os.mkdir(gate)
            frame = client.next_frame("a", "stdout")
            self.assertEqual((frame["text"], frame["background"]), (text, True))
        os.mkdir(last)
        self.assertEqual(client.done("a")["status"], "ok")

    def test_a_call_can_be_left_in_the_background_and_fetched(self):
        client = self.serve()
        gate = os.path.join(self.enterContext(tempfile.TemporaryDirectory()), "gate")
        done = client.eval(f"print('begun')\n{until_there(gate)}\n'late'", background_after=0.2)
        self.assertEqual(done["status"], "running")
        handle = done["result"]["handle"]
        wait_until(lambda: "begun" in client.ask("tail", call=handle)["result"]["text"], "its output so far")
        self.assertEqual(client.ask("wait", call=handle, limit=0.05)["status"], "running")
        os.mkdir(gate)
        for _ in range(2):
            self.assertIn("'late'", client.ask("wait", call=handle)["result"]["text"])


class SessionRequests(ServeTest):
    def test_sessions_are_listed_reset_and_closed(self):
        client = self.serve()
        with tempfile.TemporaryDirectory() as folder:
            client.eval("x = 1", session="one", cwd=folder, owner="me")
            listed = client.ask("sessions")["sessions"]
            self.assertEqual(len(listed), 1)
            self.assertEqual((listed[0]["id"], listed[0]["cwd"], listed[0]["busy"], listed[0]["cells_run"],
                              listed[0]["owners"]), ("one", os.path.realpath(folder), False, 1, ["me"]))
            self.assertGreater(listed[0]["memory_bytes"], 1 << 20)
            self.assertEqual(client.ask("reset", session="one")["status"], "ok")
            self.assertEqual(client.eval("x", session="one")["result"]["cells"][0]["error"]["ename"], "NameError")
            self.assertEqual(client.ask("close", session="one")["status"], "ok")
            self.assertEqual(client.ask("sessions")["sessions"], [])
            for request in ("reset", "close", "interrupt"):
                self.assertEqual(client.ask(request, session="one")["error"]["ename"], "NotFound")

    def test_resets_at_once_are_one(self):
        with tempfile.NamedTemporaryFile("r") as trace:
            client = self.serve(env={"PI_PYTHON_IPC_TRACE": trace.name})
            client.eval("x = 1", session="a")
            for number in range(20):
                client.send(id=number, type="reset", session="a")
            self.assertTrue(client.value("'x' in globals()", session="a").startswith("False\n[the session was reset;"))
            self.assertEqual([client.done(number)["status"] for number in range(20)], ["ok"] * 20)
            self.assertLess(trace.read().count(" Setup "), 5)

    def test_interrupt_ends_what_runs_on_a_session(self):
        client = self.serve()
        client.send(id="a", type="eval", session="s", cells=[{"code": "import time; time.sleep(60)"}])
        client.next_frame("a", "started")
        wait_until(lambda: client.ask("interrupt", session="s")["interrupted"], "the cell interrupted")
        self.assertEqual(client.done("a")["status"], "cancelled")
        self.assertFalse(client.ask("interrupt", session="s")["interrupted"])


class Rewinds(ServeTest):
    def test_a_session_goes_back_to_before_a_cell(self):
        client = self.serve()
        client.eval("x = 1", session="s")
        wait_until(lambda: client.ask("sessions")["sessions"][0]["snapshots"] == [2], "the snapshot, taken when idle")
        client.eval("x = 2", session="s")
        answer = client.ask("rewind", session="s", cell=2)
        self.assertEqual((answer["status"], answer.get("before_cell")), ("ok", 2), answer)
        self.assertEqual(client.eval("x", session="s")["result"]["cells"][0]["outputs"][-1]["data"]["text/plain"], "1")
        self.assertEqual(client.ask("rewind", session="s", cell=77)["status"], "refused")
        self.assertEqual(client.ask("rewind", session="none")["error"]["ename"], "NotFound")


class Branches(ServeTest):
    def test_a_branch_goes_on_by_itself(self):
        client = self.serve()
        client.eval("x = [1]", session="s")
        answer = client.ask("branch", session="s", new_session="t")
        self.assertEqual((answer["status"], answer.get("before_cell")), ("ok", 2), answer)
        client.eval("x.append(2)", session="t")
        self.assertEqual(self.value(client, "t"), "[1, 2]")
        self.assertEqual(self.value(client, "s"), "[1]")
        client.ask("close", session="s")
        self.assertEqual(self.value(client, "t"), "[1, 2]")
        self.assertEqual(client.ask("branch", session="none", new_session="u")["status"], "refused")
        self.assertEqual(client.ask("branch", session="t", new_session="t")["status"], "refused")

    def test_a_branch_tells_what_its_origin_had_not_told_yet(self):
        self.env["CELLAR_SNAPSHOTS"] = "off"
        client = self.serve()
        os.kill(int(client.value("import os; x = 1; os.getpid()", session="s")), signal.SIGKILL)
        wait_until(lambda: client.ask("branch", session="s", new_session="t")["status"] == "ok", "the death noticed")
        for session in ("s", "t"):
            told = client.eval("'x' in globals()", session=session)["result"]["session"]
            self.assertEqual(told["state"], "fresh", session)
            self.assertIn("SIGKILL", told["reason"])

    def value(self, client, session):
        return client.eval("x", session=session)["result"]["cells"][0]["outputs"][-1]["data"]["text/plain"]


class ManyVariables(ServeTest):
    def test_more_than_a_worker_can_be_told_are_refused_and_the_session_goes_on(self):
        client = self.serve()
        client.value("x = 1; x", session="a")
        client.send(id="many", type="eval", session="a", env={f"V{i}": "" for i in range(70_000)}, cells=[{"code": "x"}])
        done = client.done("many")
        self.assertEqual(done["status"], "refused")
        self.assertIn("4096 is the most", done["error"]["evalue"])
        self.assertEqual(client.value("x", session="a"), "1")


class Queries(ServeTest):
    def answer(self, client, query, text):
        """That of an idle session, which a slow machine may not give in time at first."""
        def ask():
            done = client.ask(query, session="s", text=text)
            self.assertIn(done.get("error", {}).get("ename"), (None, "Busy"))
            return done.get("answer")
        return wait_until(ask, f"an answer to {query}")

    def test_a_session_completes_inspects_and_judges_text(self):
        client = self.serve()
        client.eval("def my_function(a, b):\n    'Adds.'\n    return a + b", session="s")
        matches = self.answer(client, "complete", "my_fun")["matches"]
        self.assertIn("my_function", [match["text"] for match in matches])
        self.assertEqual(self.answer(client, "inspect", "my_function")["docstring"], "Adds.")
        self.assertEqual(self.answer(client, "is_complete", "for x in y:")["status"], "incomplete")
        self.assertEqual(client.ask("complete", session="none", text="x")["error"]["ename"], "NotFound")

    def test_a_session_that_runs_plain_code_is_busy(self):
        client = self.serve()
        client.send(id="a", type="eval", session="s", cells=[{"code": "print('on'); import time; time.sleep(60)"}])
        client.next_frame("a", "stdout")
        self.assertEqual(client.ask("complete", session="s", text="pri")["error"]["ename"], "Busy")
        client.ask("cancel", call="a")
        client.done("a")


class Examples(ProgramTest):
    def run_example(self, *command):
        examples = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "clients")
        with open(os.path.join(examples, "expected.txt")) as expected:
            self.assertEqual(subprocess.run(command, cwd=examples, env={**self.env, "CELLAR": CELLAR}, text=True,
                                            capture_output=True, timeout=DEADLINE_S).stdout, expected.read())

    def test_the_python_client(self):
        self.run_example("/usr/bin/python3", "cellar_client.py")

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_the_node_client(self):
        self.run_example("node", "cellar_client.js")


class BareRequests(ServeTest):
    """The runner of old: a request is an id and code, no more."""

    def test_the_frames_are_those_of_the_runner(self):
        client = self.serve()
        client.send(id="r1", code="print('hello'); display({'k': 1}); 6 * 7", silent=False, storeHistory=True)
        self.assertEqual(client.frames_of("r1"), [
            {"type": "started", "id": "r1"},
            {"type": "stdout", "id": "r1", "data": "hello\n"},
            {"type": "display", "id": "r1", "bundle": {"application/json": {"k": 1}, "text/plain": "{'k': 1}"}},
            {"type": "result", "id": "r1", "bundle": {"text/plain": "42"}},
            {"type": "done", "id": "r1", "status": "ok", "executionCount": 1, "cancelled": False}])

    def test_errors_have_a_list_of_lines(self):
        client = self.serve()
        client.send(id="r1", code="1/0")
        _, error, done = client.frames_of("r1")
        self.assertEqual((error["type"], error["ename"], error["evalue"]),
                         ("error", "ZeroDivisionError", "division by zero"))
        self.assertEqual(error["traceback"][0], "Traceback (most recent call last):")
        self.assertEqual(error["traceback"][-1], "ZeroDivisionError: division by zero")
        self.assertEqual(done, {"type": "done", "id": "r1", "status": "error", "executionCount": 1, "cancelled": False})

    def test_a_refusal_is_an_error_in_the_words_of_the_request(self):
        client = self.serve()
        client.send(id="r1", code=5)
        error, done = client.frames_of("r1")
        self.assertEqual((error["type"], error["ename"]), ("error", "InvalidRequest"))
        self.assertIn("code: expected a string", error["evalue"])
        self.assertNotIn("cells", error["evalue"])
        self.assertEqual(done, {"type": "done", "id": "r1", "status": "error", "executionCount": 0, "cancelled": False})

    def test_directory_and_variables_are_those_of_the_request_and_the_namespace_is_one(self):
        client = self.serve()
        with tempfile.TemporaryDirectory() as folder:
            client.send(id="1", code="x = 1")
            client.done("1")
            client.send(id="2", code="import os; x, os.getcwd(), os.environ['PI_SESSION_FILE']", cwd=folder,
                        env={"PI_SESSION_FILE": "f"})
            self.assertEqual(eval(client.next_frame("2", "result")["bundle"]["text/plain"]),
                             (1, os.path.realpath(folder), "f"))
            client.send(id="3", code="'PI_SESSION_FILE' in os.environ", cwd="/", env={"PI_SESSION_FILE": None})
            self.assertEqual(client.next_frame("3", "result")["bundle"]["text/plain"], "False")

    def test_a_cell_runs_with_its_variables_after_an_earlier_one_took_os_apart(self):
        client = self.serve()
        client.send(id="1", code="import os; os.environb = os.chdir = None")
        client.done("1")
        client.send(id="2", code="os.getenv('A'), os.getcwd()", cwd="/", env={"A": "b"})
        self.assertEqual(client.next_frame("2", "result")["bundle"]["text/plain"], "('b', '/')")

    def test_a_cell_whose_variables_cannot_be_set_fails_and_the_session_goes_on(self):
        client = self.serve()
        client.send(id="1", code="import os; x, encode = 1, os.environb.encodevalue; os.environb.encodevalue = None")
        client.done("1")
        client.send(id="2", code="x", env={"A": "b"})
        error, done = client.frames_of("2")[-2:]
        self.assertEqual((error["ename"], done["status"]), ("TypeError", "error"))
        client.send(id="3", code="os.environb.encodevalue = encode; x")
        self.assertEqual(client.next_frame("3", "result")["bundle"]["text/plain"], "1")

    def test_sigint_interrupts_the_running_request(self):
        client = self.serve()
        client.send(id="r1", code="print('on'); import time; time.sleep(60)")
        client.next_frame("r1", "stdout")
        self.process.send_signal(signal.SIGINT)
        error, done = client.frames_of("r1")[-2:]
        self.assertEqual((error["ename"], done["cancelled"], done["status"]), ("KeyboardInterrupt", True, "error"))
        client.send(id="r2", code="'still here'")
        self.assertEqual(client.next_frame("r2", "result")["bundle"]["text/plain"], "'still here'")

    def test_an_exit_without_an_id_ends_the_program(self):
        client = self.serve()
        client.send(id="r1", code="import time; time.sleep(60)")
        client.next_frame("r1", "started")
        client.send(type="exit")
        self.assertEqual(self.process.wait(DEADLINE_S), 0)

    def test_blank_code_is_run(self):
        client = self.serve()
        client.send(id="r1", code="\n")
        self.assertEqual([f["type"] for f in client.frames_of("r1")], ["started", "done"])


class Ends(ServeTest):
    def test_a_client_that_exits_before_it_hears_that_its_call_has_no_parent_does_no_harm(self):
        client = self.serve()
        # In one piece, so that both are read before anything is answered.
        client.send_bytes(b'{"id":1,"type":"eval","parent":"call-99","cells":[{"code":"1"}]}\n{"type":"exit"}\n')
        self.assertEqual(self.end(client), ([], 0))

    def test_exit_does_not_wait_for_a_call_in_the_background(self):
        client = self.serve()
        done = client.eval("import time; time.sleep(60)", background_after=0)
        client.send(id="w", type="wait", call=done["result"]["handle"])
        client.send(type="exit")
        self.assertIsNone(client.read_frame())
        self.assertEqual(self.process.wait(DEADLINE_S), 0)

    def test_exit_does_not_wait_for_an_interpreter_that_hangs(self):
        client = self.serve()
        with tempfile.TemporaryDirectory() as folder:
            hanging, started = os.path.join(folder, "python3"), os.path.join(folder, "started")
            with open(hanging, "w") as file:
                file.write(f"#!/bin/sh\ntouch {started}\nexec sleep 60\n")
            os.chmod(hanging, 0o755)
            client.send(id="a", type="eval", session="a", interpreter=hanging, cells=[{"code": "1"}])
            wait_until(lambda: os.path.exists(started), "the interpreter to run")
            client.send(type="exit")
            begun = time.monotonic()
            self.assertEqual(self.process.wait(DEADLINE_S), 0)
            self.assertLess(time.monotonic() - begun, 5, "it has ten seconds to answer")

    def test_a_closed_standard_input_is_the_end_of_input(self):
        self.assertEqual(subprocess.run(["sh", "-c", '"$0" serve <&-', CELLAR], env=self.env, timeout=DEADLINE_S,
                                        stdout=subprocess.DEVNULL).returncode, 0)

    def test_at_the_end_of_input_what_is_under_way_is_answered(self):
        requests = "".join(json.dumps({"id": i, "type": "eval", "stream": False, "session": f"s{i % 3}",
                                       "cells": [{"code": f"import time; time.sleep(0.1); {i}"}]}) + "\n"
                           for i in range(9))
        code, out, err = self.run_cellar("serve", input=requests.encode())
        frames = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((code, err), (0, ""))
        self.assertEqual({f["id"]: f["result"]["text"] for f in frames[1:]}, {i: str(i) for i in range(9)})

    def test_requests_can_come_from_a_file_and_go_to_one(self):
        with tempfile.TemporaryFile() as requests, tempfile.TemporaryFile() as frames:
            requests.write(b'{"id": "1", "code": "6 * 7"}\n')
            requests.seek(0)
            process = subprocess.Popen([CELLAR, "serve"], stdin=requests, stdout=frames, env=self.env)
            self.assertEqual(process.wait(DEADLINE_S), 0)
            frames.seek(0)
            self.assertEqual(json.loads(frames.readlines()[-1])["status"], "ok")

    def test_a_client_that_is_gone_leaves_nothing_running(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[{"code": "import time; print(1); time.sleep(60)", "timeout": 0}])
        client.next_frame("a", "stdout")
        self.process.stdin.close()
        self.process.stdout.close()
        self.assertEqual(self.process.wait(DEADLINE_S), 0)

    def test_a_killed_server_leaves_nothing_running(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[{"code": "import time; print(1); time.sleep(60)"}])
        client.next_frame("a", "stdout")
        self.process.kill()
        self.process.wait()

    def test_both_directions_can_be_one_socket(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.process = self.start("serve", stdin=theirs, stdout=theirs)
            theirs.close()
            stream = ours.makefile("rwb", buffering=0)
            client = LineClient(stream, stream)
            self.assertEqual(client.value("1 + 1"), "2")
            ours.shutdown(socket.SHUT_WR)
            self.assertIsNone(client.read_frame())
            stream.close()
        self.assertEqual(self.process.wait(DEADLINE_S), 0)


class BadClients(ServeTest):
    def test_what_is_no_request_is_said_and_harms_nothing(self):
        client = self.serve()
        client.eval("x = 1")
        for line in (b"nonsense\n", b"[1]\n", b"{}\n", b'{"id": 1.5, "code": "1"}\n', b"\xff\xfe\n", b"[" * 100000 + b"\n",
                     b'{"code": "1"}\n'):
            client.send_bytes(line)
            frame = client.next_frame("")
            self.assertEqual((frame["type"], frame["id"], frame["ename"]), ("error", "", "ProtocolError"), line[:40])
        for request in ({"type": "eval"}, {"type": "eval", "cells": []}, {"type": "eval", "cells": [{"code": 1}]},
                        {"type": "nope"}, {"type": "wait"}, {"type": "tail", "call": "x"}, {"type": "cancel"},
                        {"type": "sessions", "extra": 1}, {"type": "reset", "session": 7}, {"type": 3}):
            client.send(id="q", **request)
            self.assertEqual(client.next_frame("q")["status"], "refused", request)
        for line in (b'{"id": "q", "code": 1, \n', b'{"id": "q", "code": NaN}\n', b'{"id": "q", "id": "b", "code": "1"}\n',
                     b'{"id": "q", "code": ' + b"[" * 100000 + b"\n"):
            client.send_bytes(line)
            self.assertEqual(client.next_frame("q")["status"], "refused", line[:40])
        self.assertEqual(client.value("x"), "1")

    def test_what_is_said_of_an_unknown_field_names_all_that_there_are(self):
        refused = self.serve().ask("eval", nonsense=1, cells=[{"code": "1"}])
        self.assertRegex(refused["error"]["evalue"], r"^nonsense: unknown field; known are session, .*, cells, id, type, stream, by,")

    def test_an_empty_id_is_refused(self):
        client = self.serve()
        client.send(id="", type="eval", cells=[{"code": "1"}])
        self.assertIn("id: is empty", client.next_frame(type="error")["evalue"])
        self.assertEqual(client.value("1 + 1"), "2")

    def test_an_id_has_256_bytes_at_most(self):
        client = self.serve()
        client.send(id="é" * 128, type="sessions")
        self.assertEqual(client.done("é" * 128)["status"], "ok")
        client.send(id="x" * 257, type="sessions")
        self.assertIn("id: longer than 256 bytes", client.next_frame(type="error")["evalue"])

    def test_more_watches_than_may_be_are_refused(self):
        client = self.serve()
        for i in range(17):
            client.send(id=f"w{i}", type="watch")
        self.assertEqual(client.done("w16")["error"], {"ename": "Busy", "evalue": "16 watches are under way, as many as may be"})

    def test_an_id_can_be_used_once_at_a_time(self):
        client = self.serve()
        client.send(id="a", type="eval", cells=[{"code": "import time; time.sleep(60)"}])
        client.next_frame("a", "started")
        client.send(id="a", type="eval", cells=[{"code": "1"}])
        refused = {"ename": "InvalidRequest", "evalue": "id: a call or a watch of that id is under way"}
        self.assertEqual(client.done("a")["error"], refused)
        client.send(id="a", type="watch")
        self.assertEqual(client.done("a")["error"], refused)
        client.send(id="w", type="watch")
        client.next_frame("w", "state")
        for request in ({"type": "watch"}, {"type": "eval", "cells": [{"code": "1"}]}, {"type": "notebook.run", "file": "x"}):
            client.send(id="w", **request)
            self.assertEqual(client.done("w")["error"], refused)
        client.ask("cancel", call="a")
        self.assertEqual(client.done("a")["status"], "cancelled")

    def test_a_huge_line_is_refused_and_the_next_one_is_read(self):
        client = self.serve()
        chunk = b"x" * (1 << 20)
        for _ in range(70):
            client.send_bytes(chunk)
        client.send_bytes(b"\n")
        self.assertEqual(client.next_frame()["ename"], "ProtocolError")
        self.assertEqual(client.value("1"), "1")

    def test_half_a_line_at_the_end_is_said(self):
        client = self.serve()
        client.send_bytes(b'{"id": "1", "code"')
        frames, code = self.end(client)
        self.assertEqual([f["ename"] for f in frames], ["ProtocolError"])
        self.assertEqual(code, 0)

    def test_a_client_that_does_not_read_slows_no_worker_and_loses_nothing(self):
        client = self.serve()
        self.assertEqual(client.value("1"), "1")
        before = self.peak_bytes()
        lines = 400_000
        with tempfile.TemporaryDirectory() as folder:
            mark = os.path.join(folder, "over")
            client.send(id="a", type="eval", cells=[{"code": (
                f"for i in range({lines}): print(i, 'x' * 70)\nopen({mark!r}, 'w').close()"), "timeout": 120}])
            # The cell ends although nobody reads what it prints, some 30 MB of it.
            wait_until(lambda: os.path.exists(mark), "the cell has ended", 60)
            if SLOWNESS == 1:  # a sanitizer's own memory would count
                # 4 MiB of frames wait in memory, the rest in a file.
                self.assertLess(self.peak_bytes() - before, 24 << 20)
            text = "".join(f["text"] for f in client.frames_of("a", deadline_s=60) if f["type"] == "stdout")
            self.assertEqual(text.count("\n"), lines)
            self.assertEqual(text, "".join(f"{i} {'x' * 70}\n" for i in range(lines)))
        self.assertEqual(client.value("1"), "1")

    def test_a_client_that_does_not_read_is_given_up_when_its_output_cannot_be_kept(self):
        client = self.serve(env={**self.env, "TMPDIR": "/nonexistent"})
        client.send(id="a", type="eval", cells=[{"code": "for i in range(200_000): print('x' * 100)"}])
        self.assertEqual(self.process.wait(DEADLINE_S), 3)
        self.assertIn("/nonexistent", self.process.stderr.read().decode())

    def peak_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return int(next(line for line in status if line.startswith("VmHWM")).split()[1]) << 10

    def test_too_many_calls_are_refused(self):
        client = self.serve()
        client.send(id="first", type="eval", cells=[{"code": "import time; time.sleep(60)"}])
        client.next_frame("first", "started")
        for i in range(20_000):
            client.send(id=i, type="eval", stream=False, cells=[{"code": "1"}])
        self.assertEqual(client.done(19_999)["error"]["ename"], "Busy")
        for type, fields in (("sessions", {}), ("complete", {"text": "x"}), ("wait", {"call": "call-1"})):
            self.assertEqual(client.ask(type, **fields)["error"],
                             {"ename": "Busy",
                              "evalue": "20000 requests of this client are under way, as many as may be"})
        self.assertEqual(client.ask("cancel", call="first")["status"], "ok")
        self.process.terminate()
        self.process.wait(DEADLINE_S)


class Offers(ServeTest):
    def test_without_an_interpreter_there_is_only_the_shell(self):
        client = self.serve("--interpreter", "/nowhere")
        self.assertEqual(client.hello["tool_mode"], "bash-only")
        self.assertIn("/nowhere", client.hello["reason"])
        self.assertEqual(client.eval("1")["status"], "refused")


if __name__ == "__main__":
    unittest.main()
