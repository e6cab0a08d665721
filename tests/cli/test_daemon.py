"""The daemon and `cellar eval -s`: state that lasts from one shell command to the next."""
import json
import os
import re
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import unittest

from line_client import dial
from program import (DEADLINE_S, SLOWNESS, ProgramTest, Terminal, prints_when_there, processes_of, until_there,
                     wait_until)


class DaemonTest(ProgramTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.env["XDG_RUNTIME_DIR"] = folder.name
        self.directory = os.path.join(folder.name, "cellar")
        self.socket_path = os.path.join(self.directory, "socket")
        self.addCleanup(self.kill_daemon)

    def kill_daemon(self):
        pid = self.daemon_pid()
        if pid is not None:
            os.kill(pid, signal.SIGKILL)

    def daemon_pid(self):
        """None when no daemon runs."""
        out = self.run_cellar("daemon", "status")[1]
        found = re.search(r"pid (\d+)", out)
        return int(found[1]) if found else None

    def connect(self):
        return dial(self, self.socket_path)

    def connect_to_new_daemon(self):
        self.run_cellar("eval", "-s", "first", "pass")
        return self.connect()

    def run_in_session(self, *args, **options):
        return self.run_cellar("eval", "-s", "work", *args, **options)


class Tools(DaemonTest):
    def test_a_call_goes_to_a_client_that_has_the_tool_and_first_to_the_one_whose_cell_calls(self):
        self.run_in_session("pass")
        one, other = self.connect(), self.connect()
        for client, names in ((one, ("both", "ones")), (other, ("both", "others"))):
            client.ask("tools", tools=[{"name": name} for name in names])
        for caller in (one, other):
            self.assertEqual(caller.value("sorted(dir(tool))", session="work"), "['both', 'ones', 'others']")
            for name, answerer in (("both", caller), ("ones", one), ("others", other), ("llm", caller)):
                call = "llm('hi')" if name == "llm" else f"tool.{name}()"
                caller.send(id="a", type="eval", session="work", cells=[{"code": call}])
                asked = answerer.next_frame(type="call")
                self.assertEqual((asked["name"], asked["id"]), (name, "a" if answerer is caller else ""))
                answerer.send(type="reply", call=asked["call"], value=name)
                self.assertEqual(caller.done("a")["result"]["text"], repr(name))

    def test_a_call_of_a_client_that_leaves_is_answered_with_an_error(self):
        self.run_in_session("pass")
        one, other = self.connect(), self.connect()
        other.ask("tools", tools=[{"name": "others"}])
        one.send(id="a", type="eval", session="work", cells=[{"code": "tool.others()"}])
        other.next_frame(type="call")
        other.connection.shutdown(socket.SHUT_RDWR)
        self.assertIn("the client that was to answer has left", one.done("a")["result"]["text"])
        self.assertEqual(one.eval("tool.others()", session="work")["result"]["cells"][0]["error"]["ename"], "NotConnected")


class Log(DaemonTest):
    def test_a_log_that_has_grown_is_put_aside(self):
        self.run_in_session("pass")
        path = os.path.join(self.directory, "daemon.log")
        with open(path, "a") as log:
            log.write("x" * (1 << 20) + "\n")
        self.assertEqual(self.run_cellar("daemon", "stop")[0], 0)
        with open(path) as log, open(path + ".1") as old:
            self.assertRegex(log.read(), r"^\S+Z ends: [^\n]*\n$")
            self.assertRegex(old.read(), r"^\S+Z started, [^\n]*\nx{1048576}\n$")
        for name in (path, path + ".1"):
            self.assertEqual(stat.S_IMODE(os.stat(name).st_mode), 0o600)
        # The next daemon goes on with it.
        self.run_in_session("pass")
        with open(path) as log:
            self.assertIn("started", log.read())


class Input(DaemonTest):
    def test_input_is_asked_of_the_client_whose_call_it_is(self):
        self.run_in_session("pass")
        asking, other, silent = self.connect(), self.connect(), self.connect()
        for client in (asking, other):
            client.ask("hello", input=True)
        asking.send(id="a", type="eval", session="work", cells=[{"code": "input('a? ')"}])
        call = asking.next_frame("a", "input")["call"]
        # Those that wait for the session have nothing to do with it.
        other.send(id="b", type="eval", session="work", cells=[{"code": "input('b? ')"}])
        silent.send(id="c", type="eval", session="work", cells=[{"code": "input('c? ')"}])
        other.send(type="reply", call=call, value="not mine")
        wait_until(lambda: other.ask("sessions")["sessions"][0]["waiting"] == 2, "two calls waiting")
        asking.send(type="reply", call=call, value="mine")
        self.assertIn("'mine'", asking.done("a")["result"]["text"])
        other.send(type="reply", call=other.next_frame("b", "input")["call"], value="ours")
        self.assertIn("'ours'", other.done("b")["result"]["text"])
        self.assertTrue(silent.done("c")["result"]["cells"][0]["stdin_requested"])
        self.assertEqual(self.run_in_session("input()")[0], 1)


class Sessions(DaemonTest):
    def test_a_large_image_is_a_file_that_is_named(self):
        self.env["XDG_STATE_HOME"] = os.path.dirname(self.directory)
        picture = "class P:\n  def _repr_png_(self): return bytes(2_000_000)\nP()"
        code, out, err = self.run_in_session(picture)
        self.assertEqual(err, "")
        path = re.search(r"\[image/png, 1.9 MiB: (\S+)\]\n", out)[1]
        self.assertEqual(os.stat(path).st_size, 2_000_000)
        code, out, err = self.run_in_session("--json", "P()")
        self.assertEqual(err, "")
        self.assertIn("image/png", json.loads(out)["cells"][0]["outputs"][0]["saved"])

    def test_state_lasts_from_one_command_to_the_next(self):
        self.assertEqual(self.run_in_session("x = 1"), (0, "", ""))
        self.assertEqual(self.run_in_session("print(x)", "x + 1"), (0, "1\n2\n", ""))

    def test_output_looks_as_without_a_session(self):
        cells = ["import sys; print('out'); print('err', file=sys.stderr); display({'k': 1})", "'ä'", "1/0"]
        self.assertEqual(self.run_in_session(*cells), self.run_cellar("eval", *cells))
        died = ["import os, signal; print('so far'); os.kill(os.getpid(), signal.SIGSEGV)"]
        alone, shared = self.run_cellar("eval", *died), self.run_cellar("eval", "-s", "other", *died)
        without_address = [(code, out, re.sub("0x[0-9a-f]+", "0x", err)) for code, out, err in (alone, shared)]
        self.assertEqual(*without_address)

    def test_the_structured_result_is_the_same_schema(self):
        code, out, err = self.run_in_session("--json", "6 * 7")
        result = json.loads(out)
        self.assertEqual((code, err, result["text"], result["session"]["id"]), (0, "", "42", "work"))
        plain = self.run_json("6 * 7")[1]
        self.assertEqual(list(result), list(plain))
        self.assertEqual(list(result["cells"][0]), list(plain["cells"][0]))

    def test_a_clamped_time_out_is_said(self):
        note = "timeout 0.2 s was clamped to 1 s"
        self.assertEqual(self.run_in_session("--timeout", "0.2", "1"), (0, "1\n", f"cellar: {note}\n"))
        result = json.loads(self.run_in_session("--json", "--timeout", "0.2", "1")[1])
        self.assertEqual((result["text"], result["cells"][0]["notices"]), (f"1\n[{note}]", [note]))

    def test_a_session_is_opened_where_it_is_first_used_and_found_from_anywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_in_session("import os", cwd=folder)
            self.assertEqual(self.run_in_session("os.getcwd()", cwd="/")[1], repr(os.path.realpath(folder)) + "\n")

    def test_a_reset_that_waits_says_so_and_is_given_up_with_its_client(self):
        with tempfile.TemporaryDirectory() as folder:
            end = os.path.join(folder, "end")
            self.run_in_session("x = 1")
            running = self.start("eval", "-s", "work", "print('on', flush=True)\n" + until_there(end))
            self.assertEqual(running.stdout.readline(), b"on\n")
            reset = self.start("reset", "work")
            self.assertEqual(reset.stderr.readline(), b"cellar: waits for the cell that runs; Ctrl-C gives the reset up\n")
            reset.send_signal(signal.SIGINT)
            reset.wait(DEADLINE_S)
            wait_until(lambda: json.loads(self.run_cellar("sessions", "--json")[1])[0]["waiting"] == 0, "nobody waits")
            os.mkdir(end)
            self.assertEqual(running.wait(DEADLINE_S), 0)
            self.assertEqual(self.run_in_session("x"), (0, "1\n", ""))

    def test_the_handle_of_a_call_that_goes_on_is_marked_among_the_output(self):
        request = b'{"background_after": 0.2, "cells": [{"code": "import time; print(1, flush=True); time.sleep(60)"}]}'
        code, out, err = self.run_in_session("--request", "-", input=request)
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^(1\n)?\[the call is still running; its handle is call-[0-9a-f]{4}-\d+\]\n$")

    def test_a_time_out_that_was_clamped_is_said_with_its_cell(self):
        request = b'{"cells": [{"code": "print(1)", "timeout": 9999}, {"code": "print(2)"}]}'
        result = json.loads(self.run_in_session("--request", "-", "--json", input=request)[1])
        note = "timeout 9999 s was clamped to 3600 s"
        self.assertEqual(result["text"], f"[1/2]\n1\n[{note}]\n[2/2]\n2")
        self.assertEqual([cell["notices"] for cell in result["cells"]], [[note], []])
        self.assertEqual(self.run_in_session("--request", "-", input=request), (0, "1\n2\n", f"cellar: {note}\n"))

    def test_sessions_are_listed_reset_interrupted_and_closed(self):
        self.assertEqual(self.run_cellar("sessions"), (0, "no sessions\n", ""))
        self.run_in_session("x = 1")
        code, out, err = self.run_cellar("sessions")
        self.assertRegex(out, r"^SESSION  STATE +CELLS  MEMORY +DIRECTORY +PYTHON\nwork     idle \d+ s  1      \d+ MiB +/\S* +/\S*")
        self.run_in_session("x = 2")
        self.run_cellar("branch", "work", "another")
        table = self.run_cellar("sessions")[1].splitlines()
        self.assertEqual(len(table), 3)
        self.assertEqual(len({line.index("idle") for line in table[1:]} | {table[0].index("STATE")}), 1)
        self.run_cellar("close", "another")
        listed = json.loads(self.run_cellar("sessions", "--json")[1])
        self.assertEqual([s["id"] for s in listed], ["work"])
        self.assertEqual(self.run_cellar("reset", "work"), (0, "", ""))
        self.assertIn("NameError", self.run_in_session("x")[2])
        running = self.start("eval", "-s", "work", "import time; print('on', flush=True); time.sleep(60)")
        self.assertEqual(running.stdout.readline(), b"on\n")
        call = json.loads(self.run_cellar("sessions", "--json")[1])[0]["call"]
        self.assertRegex(self.run_cellar("sessions")[1], rf"\nwork     busy {call}, \d+ s  ")
        self.assertEqual(self.run_cellar("interrupt", "work"), (0, "", ""))
        self.assertEqual(running.wait(DEADLINE_S), 1)
        self.assertEqual(self.run_cellar("interrupt", "work"), (0, "no cell was running\n", ""))
        self.assertEqual(self.run_cellar("close", "work"), (0, "", ""))
        self.assertEqual(self.run_cellar("sessions"), (0, "no sessions\n", ""))
        self.assertEqual(self.run_cellar("close", "work"), (2, "", 'cellar: there is no session "work"\n'))

    def test_all_sessions_of_a_name_are_closed_and_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            self.run_in_session("pass", cwd="/")
            self.run_in_session("--cwd", folder, "pass")
            self.assertEqual(self.run_cellar("close", "work"), (0, "2 sessions closed\n", ""))
            self.assertEqual(self.run_cellar("sessions"), (0, "no sessions\n", ""))

    def test_a_session_is_rewound_and_branched(self):
        self.env["CELLAR_SNAPSHOTS"] = "always"
        for cell in ("x = [1]", "x.append(2)", "x.append(3)"):
            self.run_in_session(cell)
        self.assertEqual(self.run_cellar("rewind", "work"), (0, "the state is that of before cell 3\n", ""))
        self.assertEqual(self.run_in_session("x")[1], "[1, 2]\n")
        self.assertEqual(self.run_cellar("branch", "work", "other")[0], 0)
        self.assertEqual(self.run_cellar("rewind", "work", "2"), (0, "the state is that of before cell 2\n", ""))
        self.assertEqual(self.run_in_session("x")[1], "[1]\n")
        self.assertEqual(self.run_cellar("eval", "-s", "other", "x")[1], "[1, 2]\n")
        code, out, err = self.run_cellar("rewind", "work", "77")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("no snapshot", err)

    def test_what_somebody_else_has_done_to_a_session_is_told_once(self):
        self.env["CELLAR_SNAPSHOTS"] = "always"
        agent = self.connect_to_new_daemon()
        def told():
            session = agent.eval("1", session="work")["result"]["session"]
            return session["state"], session["reason"]
        for command, news in ((("rewind", "work", "3"), ("restored", "the session was rewound; state is that of before cell 3: "
                                                                     "cell 3 is undone")),
                              (("reset", "work"), ("fresh", "the session was reset; this cell ran in a fresh session")),
                              (("close", "work"), ("fresh", "the session was closed; this cell ran in a fresh session"))):
            for _ in range(3):
                agent.eval("1", session="work")
            self.assertEqual(self.run_cellar(*command)[0], 0)
            self.assertEqual((told(), told()), (news, ("kept", "")), command)

    def test_a_reset_of_what_nobody_has_used_is_no_news(self):
        agent = self.connect_to_new_daemon()
        agent.send(id="w", type="watch", session="work")
        agent.next_frame(type="state")
        self.assertEqual(self.run_cellar("reset", "work"), (0, "", ""))
        self.assertEqual(agent.eval("1", session="work")["result"]["session"]["state"], "kept")

    def test_what_a_rewind_and_a_branch_could_not_take_along_is_said(self):
        self.env["CELLAR_SNAPSHOTS"] = "always"
        self.run_in_session("import threading as t; t.Thread(target=t.Event().wait, name='waiter', daemon=True).start()")
        self.run_in_session("pass")
        for command, cell in ((("branch", "work", "other"), 3), (("rewind", "work", "2"), 2)):
            self.assertEqual(self.run_cellar(*command),
                             (0, f"the state is that of before cell {cell}; not carried over: the thread waiter\n", ""))

    def test_a_call_can_be_detached_looked_at_and_waited_for(self):
        gate = os.path.join(self.env["XDG_RUNTIME_DIR"], "gate")
        code, out, err = self.run_in_session("--detach", f"print('begun', flush=True)\n{until_there(gate)}\n'late'")
        self.assertEqual((code, err), (0, ""))
        handle = out.strip()
        wait_until(lambda: "begun" in self.run_cellar("tail", handle)[1], "its output so far")
        self.assertIn("still running", self.run_cellar("wait", "--limit", "0.01", handle)[1])
        os.mkdir(gate)
        with open("/dev/full", "wb") as full:
            self.assertEqual(self.start("wait", handle, stdout=full).wait(DEADLINE_S), 3)
        for _ in range(2):
            self.assertEqual(self.run_cellar("wait", handle), (0, "begun\n'late'\n", ""))
        self.assertEqual(self.run_cellar("wait", "call-999")[0], 2)

    def test_a_detached_call_can_be_cancelled_while_it_runs_or_waits(self):
        running = self.run_in_session("--detach", "print('on', flush=True); import time; time.sleep(60)")[1].strip()
        wait_until(lambda: "on" in self.run_cellar("tail", running)[1], "the first one runs")
        waiting = self.run_in_session("--detach", "1")[1].strip()
        for call, what in ((waiting, "not run"), (running, "state kept")):
            self.assertEqual(self.run_cellar("cancel", call), (0, "", ""))
            code, out, _ = self.run_cellar("wait", call)
            self.assertEqual(code, 1)
            self.assertIn(what, out)
        self.assertEqual(self.run_cellar("cancel", running), (2, "", f'cellar: no call "{running}" is under way\n'))

    def test_a_handle_of_a_daemon_that_has_ended_names_no_call_of_the_next(self):
        old = self.run_in_session("--detach", "1")[1].strip()
        self.assertEqual(self.run_cellar("daemon", "stop")[0], 0)
        new = self.run_in_session("--detach", "print('on', flush=True); import time; time.sleep(60)")[1].strip()
        self.assertEqual(self.run_cellar("cancel", old), (2, "", f'cellar: no call "{old}" is under way\n'))
        wait_until(lambda: "on" in self.run_cellar("tail", new)[1], "the new one runs")
        self.assertEqual(self.run_cellar("cancel", new), (0, "", ""))

    def test_a_result_is_kept_when_the_client_that_waits_for_it_leaves(self):
        gate = os.path.join(self.env["XDG_RUNTIME_DIR"], "gate")
        handle = self.run_in_session("--detach", f"{until_there(gate)}\n6 * 7")[1].strip()
        leaver = self.connect()
        leaver.eval("1", session="owned", owner="me")
        leaver.send(id="w", type="wait", call=handle)
        leaver.ask("hello")  # the wait has been read
        leaver.connection.shutdown(socket.SHUT_RDWR)
        stays = self.connect()
        wait_until(lambda: [s["id"] for s in stays.ask("sessions")["sessions"]] == ["work"], "its leaving noticed")
        os.mkdir(gate)
        wait_until(lambda: stays.ask("tail", call=handle)["status"] != "running", "the call has ended")
        self.assertEqual(self.run_cellar("wait", handle), (0, "42\n", ""))

    def test_what_was_printed_between_two_calls_is_shown_with_the_second(self):
        gate = os.path.join(self.env["XDG_RUNTIME_DIR"], "gate")
        self.assertEqual(self.run_in_session(prints_when_there(gate, "late")), (0, "", ""))
        os.mkdir(gate)
        wait_until(lambda: os.path.exists(gate + ".printed"), "the line printed")
        self.assertEqual(self.run_in_session("1"), (0, "late\n1\n", ""))
        self.assertEqual(self.run_in_session("2"), (0, "2\n", ""))

    def test_a_request_that_is_too_long_is_refused(self):
        code = "#" + "\x01" * 12_000_000  # six times as long in JSON
        exit_code, out, err = self.run_in_session("-", input=code.encode())
        self.assertEqual((exit_code, out), (2, ""))
        self.assertRegex(err, r"^cellar: the request has 72\d{6} bytes as JSON, and may have 68157440\n$")

    def test_a_directory_that_is_relative_is_refused(self):
        client = self.connect_to_new_daemon()
        for name, request in (("cwd", {"type": "eval", "cwd": "tmp", "cells": [{"code": "1"}]}),
                              ("opening_cwd", {"type": "eval", "opening_cwd": "tmp", "cells": [{"code": "1"}]}),
                              ("opening_cwd", {"type": "watch", "opening_cwd": "tmp"})):
            client.send(id="a", **request)
            self.assertEqual(client.done("a")["error"],
                             {"ename": "InvalidRequest", "evalue": f"{name}: expected an absolute path"})

    def test_a_name_is_not_empty_and_not_too_long(self):
        self.run_in_session("1")
        self.assertEqual(self.run_cellar("branch", "work", ""), (2, "", "cellar: new_session: is empty\n"))
        client = self.connect()
        name = "x" * 257
        for request in ({"type": "watch", "session": name}, {"type": "branch", "session": "work", "new_session": name},
                        {"type": "eval", "session": name, "cells": [{"code": "1"}]}):
            client.send(id="a", **request)
            self.assertIn("has 257 bytes, more than 256", client.done("a")["error"]["evalue"])

    def test_ctrl_c_interrupts_that_call_only(self):
        terminal = Terminal(self, "eval", "-s", "work", "print('one'); import time; time.sleep(60)")
        terminal.wait_for("one")
        other = self.start("eval", "-s", "other", "print('two', flush=True); import time; time.sleep(2); 'whole'")
        self.assertEqual(other.stdout.readline(), b"two\n")
        terminal.send("\x03")
        terminal.wait_for("KeyboardInterrupt")
        self.assertEqual(terminal.exit_code(), 130)
        self.assertEqual(other.stdout.read(), b"'whole'\n")

    def test_a_client_that_disappears_gives_up_its_call_and_its_ownership(self):
        client = self.start("eval", "-s", "work", "x = 1", "print('on', flush=True); import time; time.sleep(60)")
        self.assertEqual(client.stdout.readline(), b"on\n")
        client.kill()
        self.assertEqual(self.run_in_session("x"), (0, "1\n", ""))
        owner = self.connect()
        owner.eval("1", session="owned", owner="me")
        self.assertEqual({s["id"]: s["owners"] for s in owner.ask("sessions")["sessions"]},
                         {"work": [], "owned": ["me"]})
        owner.connection.shutdown(socket.SHUT_RDWR)
        listing = self.connect()
        wait_until(lambda: [s["id"] for s in listing.ask("sessions")["sessions"]] == ["work"], "the owned one closed")
        told = listing.eval("1", session="owned")["result"]["session"]
        self.assertEqual(told["state"], "fresh")
        self.assertIn("its last owner has left", told["reason"])

    def test_an_owner_that_leaves_closes_no_session_that_somebody_watches(self):
        owner, watcher = self.connect_to_new_daemon(), self.connect()
        owner.eval("x = 1", session="watched", owner="me")
        owner.eval("x = 1", session="owned", owner="me")
        watcher.send(id="w", type="watch", session="watched")
        watcher.next_frame(type="state")
        owner.connection.shutdown(socket.SHUT_RDWR)
        wait_until(lambda: len(watcher.ask("sessions")["sessions"]) == 2, "the other one closed")
        self.assertEqual(watcher.value("x", session="watched"), "1")

    def test_a_command_that_leaves_at_its_end_can_be_no_owner(self):
        self.run_in_session("x = 1")
        request = json.dumps({"owner": "me", "cells": [{"code": "x"}]}).encode()
        exit_code, out, err = self.run_in_session("--request", "-", input=request)
        self.assertEqual((exit_code, out), (2, ""))
        self.assertIn("owner: this command leaves when its call is over", err)
        self.assertEqual(self.run_in_session("x"), (0, "1\n", ""))

    def test_the_idle_time_out_is_that_of_the_session(self):
        self.run_in_session("pass")
        with tempfile.TemporaryDirectory() as project:
            os.mkdir(os.path.join(project, ".cellar"))
            with open(os.path.join(project, ".cellar", "config.json"), "w") as config:
                config.write('{"idle_timeout_s": 0.1}')
            self.assertEqual(self.run_cellar("eval", "-s", "brief", "1", cwd=project), (0, "1\n", ""))
            listing = self.connect()
            wait_until(lambda: [s["id"] for s in listing.ask("sessions")["sessions"]] == ["work"], "the idle one closed")
            result = self.run_json("-s", "brief", "1", cwd=project)[1]
            self.assertIn("closed after 0.1 s without a call", result["session"]["reason"])

    def test_many_clients_share_a_session_in_order(self):
        self.run_in_session("n = 0")
        clients = [self.start("eval", "-s", "work", "n += 1") for _ in range(20)]
        self.assertEqual([client.wait(DEADLINE_S) for client in clients], [0] * 20)
        self.assertEqual(self.run_in_session("n")[1], "20\n")

    def test_a_refused_request_is_told_by_the_exit_code(self):
        self.assertEqual(self.run_in_session("--interpreter", "/nowhere", "1")[0], 2)
        self.assertEqual(self.run_in_session("--cwd", "/nowhere", "1")[0], 2)
        code, out, err = self.run_in_session("--set", "retry=once", "1")  # which would have no effect
        self.assertEqual((code, out), (2, ""))
        self.assertIn("--set", err)


class Daemon(DaemonTest):
    def test_100_first_calls_at_once_make_one_daemon(self):
        clients = [self.start("eval", "-s", f"s{i % 4}", "import os; os.getppid()") for i in range(100)]
        outputs = [client.communicate(timeout=120) for client in clients]
        self.assertEqual({(client.returncode, err) for client, (_, err) in zip(clients, outputs)}, {(0, b"")})
        self.assertEqual(len({out for out, _ in outputs}), 4)
        with open(os.path.join(self.directory, "daemon.log")) as log:
            self.assertEqual(log.read().count("started"), 1)

    def test_it_runs_detached(self):
        self.run_in_session("1")
        pid = self.daemon_pid()
        self.assertEqual(os.getsid(pid), pid)
        self.assertEqual(self.run_cellar("daemon", "status")[1], f"running, version 0.1.0, pid {pid}, 1 session\n")

    def test_files_are_for_the_user_alone(self):
        self.run_in_session("1")
        self.assertEqual(stat.S_IMODE(os.stat(self.directory).st_mode), 0o700)
        for name in os.listdir(self.directory):
            self.assertEqual(stat.S_IMODE(os.stat(os.path.join(self.directory, name)).st_mode), 0o600, name)

    def test_stop_ends_it_and_the_next_call_says_what_is_gone(self):
        self.run_in_session("x = 1")
        self.assertEqual(self.run_cellar("daemon", "stop"), (0, "", ""))
        self.assertEqual(self.run_cellar("daemon", "status"), (1, "no daemon is running\n", ""))
        self.assertEqual(processes_of(self.mark), [])
        result = json.loads(self.run_in_session("--json", "1")[1])
        self.assertEqual(result["session"]["state"], "fresh")
        self.assertIn("the daemon that had the session has ended", result["session"]["reason"])
        self.run_cellar("close", "work")
        self.run_cellar("daemon", "stop")
        self.assertEqual(json.loads(self.run_in_session("--json", "1")[1])["session"]["state"], "kept")

    def test_all_sessions_that_had_state_are_known_to_the_next_daemon(self):
        self.run_in_session("x = 1")
        self.run_cellar("branch", "work", "branch")
        handle = self.run_cellar("eval", "-s", "detached", "--detach", "x = 1")[1].strip()
        self.run_cellar("wait", handle)
        watcher = self.connect()
        watcher.send(id="w", type="watch", session="only seen")
        watcher.next_frame("w", "state")
        self.run_cellar("daemon", "stop")
        states = {name: json.loads(self.run_cellar("eval", "-s", name, "--json", "1")[1])["session"]["state"]
                  for name in ("work", "branch", "detached", "only seen")}
        self.assertEqual(states, {"work": "fresh", "branch": "fresh", "detached": "fresh", "only seen": "kept"})

    def test_of_very_many_sessions_the_latest_are_known_to_the_next_daemon(self):
        os.mkdir(self.directory, 0o700)
        with open(os.path.join(self.directory, "sessions"), "w") as journal:
            json.dump([f"old{i}" for i in range(4096)], journal)
        self.run_in_session("x = 1")
        self.run_cellar("daemon", "stop")
        self.assertEqual(json.loads(self.run_in_session("--json", "1")[1])["session"]["state"], "fresh")

    def test_a_daemon_leaves_the_socket_of_another_alone(self):
        first = self.start("daemon", "run", "--idle-exit", str(SLOWNESS))
        wait_until(lambda: os.path.exists(self.socket_path), "the socket")
        holder = self.connect()  # while it is there, the daemon stays
        for name in os.listdir(self.directory):
            os.unlink(os.path.join(self.directory, name))
        self.assertEqual(self.run_in_session("x = 1"), (0, "", ""))
        second = self.daemon_pid()
        self.assertNotEqual(second, first.pid)
        holder.leave()
        self.assertEqual(first.wait(DEADLINE_S), 0)
        self.assertEqual(self.run_in_session("x"), (0, "1\n", ""))
        self.assertEqual(self.daemon_pid(), second)

    def test_a_daemon_that_does_not_answer_is_said_and_can_be_stopped(self):
        self.run_in_session("1")
        pid = self.daemon_pid()
        os.kill(pid, signal.SIGSTOP)
        said = f"the daemon (pid {pid}) does not answer; to end it, and its sessions with it: cellar daemon stop\n"
        commands = [self.start("daemon", "status"), self.start("eval", "-s", "work", "1")]
        outputs = [command.communicate(timeout=DEADLINE_S) for command in commands]
        self.assertEqual([command.returncode for command in commands], [3, 3])
        self.assertEqual(outputs, [(said.encode(), b""), (b"", f"cellar: {said}".encode())])
        self.assertEqual(self.run_cellar("daemon", "stop"), (0, "", ""))
        self.assertEqual(self.run_in_session("2")[:2], (0, "2\n"))

    def test_a_killed_daemon_is_replaced_and_its_stale_socket_cleared(self):
        self.run_in_session("x = 1")
        os.kill(self.daemon_pid(), signal.SIGKILL)
        wait_until(lambda: not processes_of(self.mark), "its workers gone")
        self.assertTrue(os.path.exists(self.socket_path))
        code, out, err = self.run_in_session("1 + 1")
        self.assertEqual((code, out), (0, "2\n"))
        self.assertIn("the daemon that had the session has ended; this cell ran in a fresh session", err)

    def test_an_interrupted_cell_in_a_fresh_session_says_both(self):
        self.run_in_session("x = 1")
        self.run_cellar("daemon", "stop")
        result = json.loads(self.run_in_session("--json", "--timeout", "1", "import time; time.sleep(60)")[1])
        self.assertRegex(result["cells"][0]["state_detail"],
                         r"^the daemon .*; this cell ran in a fresh session; interrupted after .* s, state kept$")

    def test_a_daemon_that_dies_under_a_call_is_told(self):
        client = self.start("eval", "-s", "work", "print('on', flush=True); import time; time.sleep(60)")
        self.assertEqual(client.stdout.readline(), b"on\n")
        os.kill(self.daemon_pid(), signal.SIGKILL)
        self.assertEqual(client.wait(DEADLINE_S), 3)
        self.assertEqual(client.stderr.read(), b"cellar: the daemon ended before it answered\n")

    def test_it_ends_by_itself_when_it_has_nothing_to_do(self):
        daemon = self.start("daemon", "run", "--idle-exit", str(0.3 * SLOWNESS))
        wait_until(lambda: os.path.exists(self.socket_path), "the socket")
        self.assertEqual(self.run_in_session("1"), (0, "1\n", ""))
        with self.assertRaises(subprocess.TimeoutExpired):  # it has a session
            daemon.wait(0.6 * SLOWNESS)
        self.run_cellar("close", "work")
        self.assertEqual(daemon.wait(DEADLINE_S), 0)
        self.assertFalse(os.path.exists(self.socket_path))

    def test_it_stays_for_a_result_that_nobody_has_waited_for(self):
        daemon = self.start("daemon", "run", "--idle-exit", str(0.3 * SLOWNESS))
        wait_until(lambda: os.path.exists(self.socket_path), "the socket")
        handle = self.run_in_session("--detach", "6 * 7")[1].strip()
        wait_until(lambda: self.run_cellar("tail", handle)[1] == "42\n", "the end of the call")
        self.run_cellar("close", "work")
        with self.assertRaises(subprocess.TimeoutExpired):
            daemon.wait(SLOWNESS)
        self.assertEqual(self.run_cellar("wait", handle), (0, "42\n", ""))
        self.assertEqual(daemon.wait(DEADLINE_S), 0)

    def test_a_daemon_of_another_version_hands_over_when_it_holds_nothing(self):
        os.mkdir(self.directory, 0o700)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(self.socket_path)
        listener.listen()
        asked = []

        def old_daemon():
            with listener.accept()[0] as client:
                client.sendall(b'{"type":"hello","version":"0.0.1","protocol":1,"pid":1}\n')
                asked.append(json.loads(client.makefile("rb").readline())["type"])
                os.unlink(self.socket_path)
                listener.close()
                client.sendall(b'{"type":"done","id":"handover","status":"ok"}\n')
        thread = threading.Thread(target=old_daemon)
        thread.start()
        self.assertEqual(self.run_in_session("1 + 1"), (0, "2\n", ""))
        thread.join()
        self.assertEqual(asked, ["handover"])

    def test_one_that_holds_sessions_does_not_hand_over(self):
        self.run_in_session("x = 1")
        client = self.connect()
        self.assertEqual(client.ask("handover")["status"], "refused")
        client.ask("close", session="work")
        self.assertEqual(client.ask("handover")["status"], "ok")
        self.assertIsNone(client.read_frame())

    def test_a_directory_that_others_could_change_is_refused(self):
        os.mkdir(self.directory)
        os.chmod(self.directory, 0o755)
        code, _, err = self.run_in_session("1")
        self.assertEqual(code, 3)
        self.assertIn("lets other users in", err)
        os.rmdir(self.directory)
        os.symlink("/tmp", self.directory)
        code, _, err = self.run_in_session("1")
        self.assertEqual(code, 3)
        self.assertIn("is not a directory", err)
        os.unlink(self.directory)

    @unittest.skipUnless(os.geteuid() == 0, "needs to become another user")
    def test_another_user_is_refused(self):
        self.run_in_session("1")
        for path, mode in ((os.path.dirname(self.directory), 0o755), (self.directory, 0o755), (self.socket_path, 0o666)):
            os.chmod(path, mode)
        script = ("import os, socket, sys; os.setgid(65534); os.setuid(65534); s = socket.socket(socket.AF_UNIX); "
                  "s.connect(sys.argv[1]); sys.stdout.buffer.write(s.recv(100))")
        other = subprocess.run(["/usr/bin/python3", "-c", script, self.socket_path], capture_output=True)
        self.assertEqual(other.stdout, b"", other.stderr)
        with open(os.path.join(self.directory, "daemon.log")) as log:
            self.assertIn("refused a client of user 65534", log.read())
        os.chmod(self.directory, 0o700)


if __name__ == "__main__":
    unittest.main()
