"""One session, several at it: `cellar repl -s`, what others do there, and the watch of the line protocol under it."""
import fcntl
import json
import os
import signal
import unittest

from program import DEADLINE_S, Screen, Terminal, prints_when_there, wait_until
from prompt import SLEEP, AtPrompt
from test_daemon import DaemonTest


class AttachTest(AtPrompt, DaemonTest):
    command = ("repl", "-s", "work")

    def sessions(self):
        return self.run_cellar("sessions")[1]

    def start_cell(self, code=SLEEP):
        """Another who runs a cell in the session, when it runs."""
        other = self.start("eval", "-s", "work", code)
        self.assertEqual(other.stdout.readline(), b"on\n")
        return other


class Watches(AttachTest):
    def setUp(self):
        super().setUp()
        self.run_in_session("pass")
        self.watcher = self.connect()
        self.watcher.send(id="w", type="watch", session="work")
        self.assertEqual(self.watcher.next_frame("w"),
                         {"type": "state", "id": "w", "session": "work", "next_cell": 2})

    def test_the_cells_of_others_are_told_as_they_happen(self):
        other = self.connect()
        other.eval("print('out'); 6 * 7", session="work", by="Ada")
        started = self.watcher.next_frame("w", "started")
        call = started["call"]
        self.assertEqual((started["by"], started["code"], started["execution_count"]), ("Ada", "print('out'); 6 * 7", 2))
        self.assertEqual(self.watcher.printed("w", until="\n"), "out\n")
        self.assertEqual(self.watcher.next_frame("w", "result")["data"]["text/plain"], "42")
        self.assertEqual(self.watcher.next_frame("w", "finished")["status"], "complete")
        busy = self.watcher.next_frame("w", "state")
        self.assertEqual(busy["running"], {"call": call, "by": "Ada", "own": False})
        idle = self.watcher.next_frame("w", "state")
        self.assertEqual((idle["next_cell"], "running" in idle), (3, False))

    def test_own_cells_are_told_once(self):
        self.assertEqual(self.watcher.value("6 * 7", session="work"), "42")
        self.assertTrue(self.watcher.next_frame("w", "state")["running"]["own"])
        self.assertEqual(self.watcher.next_frame("w", "state")["next_cell"], 3)
        self.assertEqual([frame for frame in self.watcher.frames if frame["id"] == "w"], [])

    def test_who_comes_late_is_told_what_the_cell_has_printed(self):
        other = self.connect()
        other.send(id="1", type="eval", session="work", cells=[{"code": SLEEP}])
        self.assertEqual(other.printed("1", until="\n"), "on\n")
        late = self.connect()
        late.send(id="w", type="watch", session="work")
        self.assertEqual(late.next_frame("w", "started")["code"], SLEEP)
        self.assertEqual(late.printed("w", until="\n"), "on\n")
        late.ask("cancel", call=late.next_frame("w", "state")["running"]["call"])
        self.assertEqual(late.next_frame("w", "finished")["status"], "cancelled")
        self.assertEqual(other.done("1")["status"], "cancelled")

    def test_background_output_and_changes_are_told(self):
        other = self.connect()
        other.eval("import threading; go = threading.Event()\n"
                   "threading.Thread(target=lambda: (go.wait(), print('later')), daemon=True).start()",
                   "import asyncio; asyncio.get_running_loop().call_later(0.2, go.set)", session="work")
        frame = self.watcher.next_frame("w", "stdout")
        if frame["text"] == "later":  # print() writes the line's end apart
            frame["text"] += self.watcher.next_frame("w", "stdout")["text"]
        self.assertEqual((frame["text"], frame["background"]), ("later\n", True))
        for request, change in (("reset", "reset"), ("close", "closed")):
            self.assertEqual(other.ask(request, session="work")["status"], "ok")
            while (state := self.watcher.next_frame("w", "state")).get("change") is None:
                pass
            self.assertEqual((state["change"], state["next_cell"]), (change, 1))

    def test_one_that_does_not_read_slows_nobody(self):
        other = self.connect()
        done = other.eval("for _ in range(200): print('x' * 100_000)", session="work", stream=False)
        self.assertEqual(done["status"], "ok")
        text = 0
        while (frame := self.watcher.next_frame("w"))["type"] != "finished":
            text += len(frame.get("text", ""))
        self.assertEqual(text, 200 * 100_001)

    def test_it_ends_when_it_is_cancelled(self):
        self.assertEqual(self.watcher.ask("cancel", call="w")["status"], "ok")
        self.assertEqual(self.watcher.done("w")["status"], "ok")
        self.connect().eval("1", session="work")
        self.assertEqual(self.watcher.ask("sessions")["status"], "ok")
        self.assertEqual(list(self.watcher.frames), [])

    def test_a_watch_can_be_cancelled_while_its_session_is_opened(self):
        # In one piece, so that both are read before anything else is done.
        self.watcher.send_bytes(b'{"id":"v","type":"watch","session":"not open yet"}\n'
                                b'{"id":"x","type":"cancel","call":"v"}\n')
        self.assertEqual((self.watcher.next_frame("v")["type"], self.watcher.done("x")["status"]), ("done", "ok"))
        self.watcher.value("1", session="not open yet")
        self.assertEqual([frame for frame in self.watcher.frames if frame["id"] == "v"], [])

    def test_a_watch_that_was_cancelled_does_not_take_the_place_of_the_next(self):
        self.watcher.send_bytes(b'{"id":"v","type":"watch","session":"A"}\n'
                                b'{"id":"x","type":"cancel","call":"v"}\n'
                                b'{"id":"v","type":"watch","session":"B"}\n')
        self.assertEqual(self.watcher.done("v")["status"], "ok")
        self.assertEqual(self.watcher.next_frame("v")["session"], "B")

    def test_characters_of_background_output_that_come_in_parts_stay_whole(self):
        gates = [os.path.join(self.state, name) for name in ("first", "second", "last")]
        self.watcher.eval("import os, threading, time\n"
                          "def write():\n"
                          f"    for gate, part in zip({gates!r}, (b'a\\xc3', b'\\xa9', b'\\xff\\n')):\n"
                          "        while not os.path.exists(gate): time.sleep(0.01)\n"
                          "        os.write(1, part)\n"
                          "threading.Thread(target=write, daemon=True).start()", session="work")
        for gate, text in zip(gates, ("a", "é", "\ufffd\n")):
            os.mkdir(gate)
            frame = self.watcher.next_frame("w", "stdout")
            self.assertEqual((frame["text"], frame["background"]), (text, True))

    def test_a_notebook_of_ones_own_is_told_once_and_what_it_has_started_goes_on_being_told(self):
        path, gate = os.path.join(self.state, "a.ipynb"), os.path.join(self.state, "gate")
        self.run_cellar("notebook", "new", path)
        self.run_cellar("notebook", "insert", path, "0", "--source", prints_when_there(gate, "late"))
        self.watcher.send(id="r", type="notebook.run", file=path, session="work")
        self.assertEqual(self.watcher.done("r")["status"], "ok")
        self.assertTrue(self.watcher.next_frame("w")["running"]["own"])
        self.assertEqual(self.watcher.next_frame("w"),
                         {"type": "state", "id": "w", "session": "work", "next_cell": 3})
        os.mkdir(gate)
        self.assertEqual(self.watcher.printed("w", until="\n"), "late\n")

    def test_background_output_that_was_watched_is_not_told_again_with_the_next_call(self):
        gate = os.path.join(self.state, "gate")
        self.watcher.eval(prints_when_there(gate, "late"), session="work")
        os.mkdir(gate)
        self.assertEqual(self.watcher.printed("w", until="\n"), "late\n")
        self.watcher.send(id="a", type="eval", session="work", cells=[{"code": "1"}])
        self.assertEqual([frame["type"] for frame in self.watcher.frames_of("a")],
                         ["started", "result", "finished", "done"])

    def watch_between(self, gates):
        """A watcher that comes when the first has printed, and before the second may go on."""
        os.mkdir(gates[0])
        wait_until(lambda: os.path.exists(gates[0] + ".printed"), "the first line printed")
        late = self.connect()
        late.send(id="w", type="watch", session="work")
        late.next_frame("w", "state")
        os.mkdir(gates[1])
        return late

    def test_background_output_that_nobody_watched_is_told_with_the_next_that_somebody_watches(self):
        self.watcher.ask("cancel", call="w")
        gates = [os.path.join(self.state, name) for name in ("first", "second")]
        self.watcher.eval(*(prints_when_there(gate, os.path.basename(gate)) for gate in gates), session="work")
        late = self.watch_between(gates)
        self.assertEqual(late.printed("w", until="second\n"), "first\nsecond\n")

    def test_a_display_that_comes_after_output_that_nobody_watched_is_told_too(self):
        self.watcher.ask("cancel", call="w")
        gates = [os.path.join(self.state, name) for name in ("first", "second")]
        self.watcher.eval(prints_when_there(gates[0], "first"),
                          "def show():\n"
                          f"    while not os.path.exists({gates[1]!r}): time.sleep(0.01)\n"
                          "    display({'shown': 1})\n"
                          "import os, threading, time; threading.Thread(target=show, daemon=True).start()", session="work")
        late = self.watch_between(gates)
        self.assertEqual(late.printed("w", until="\n"), "first\n")
        self.assertEqual(late.next_frame("w", "display")["data"]["application/json"], {"shown": 1})


class IdleWatch(AttachTest):
    def test_a_session_that_is_watched_is_not_closed_for_being_idle(self):
        self.env["CELLAR_IDLE_TIMEOUT_S"] = "1"
        self.run_in_session("pass")
        watcher = self.connect()
        watcher.send(id="w", type="watch", session="watched")
        watcher.next_frame("w", "state")
        self.run_in_session("pass")
        wait_until(lambda: [s["id"] for s in watcher.ask("sessions")["sessions"]] == ["watched"],
                   "the other session, which was used later, closed")


class Prompt(AttachTest):
    def test_state_is_shared_with_eval(self):
        self.run_in_session("x = 6")
        screen = self.screen(at="work In [2]:")
        screen.enter("x = x * 7; x", "\n42\nwork In [3]:")
        screen.keys("C-d")
        wait_until(lambda: "idle" in self.sessions(), "the session after the prompt")
        self.assertEqual(self.run_in_session("x")[1], "42\n")

    def test_what_was_printed_before_it_came_is_shown_with_the_first_cell(self):
        gate = os.path.join(self.state, "gate")
        self.run_in_session(prints_when_there(gate, "late"))
        os.mkdir(gate)
        wait_until(lambda: os.path.exists(gate + ".printed"), "the line printed")
        screen = self.screen(at="work In [2]:")
        screen.enter("'mine'", "work In [2]: 'mine'\nlate\n'mine'\nwork In [3]:")

    def test_the_cells_of_others_are_shown_above_what_is_typed(self):
        screen = self.screen()
        screen.keys("half of")
        screen.wait_for("In [1]: half of")
        running = self.start("eval", "-s", "work", "import sys", "print('from eval'); sys.stdin.readline()",
                             "2 + 2")
        running.wait(DEADLINE_S)
        screen.wait_for("In [3]: half of")
        text = screen.text()
        self.assertIn(f"cellar: eval, process {running.pid} runs cell 2:\nprint('from eval'); sys.stdin.readline()\n"
                      "from eval\n", text)
        self.assertNotIn("2 + 2", text)

    def test_two_prompts_see_each_other(self):
        first, second = self.screen(), self.screen()
        first.keys("x = 'shared'", "Enter")
        second.wait_for("runs cell 1:\nx = 'shared'\nwork In [2]:")
        second.enter("x", "\n'shared'\nwork In [3]:")
        first.wait_for("runs cell 2:\nx\n'shared'\nwork In [3]:")

    def test_ctrl_c_interrupts_the_own_cell_and_asks_for_that_of_another(self):
        screen = self.screen()
        screen.keys(SLEEP, "Enter")
        screen.wait_to_show("\non")
        screen.keys("C-c")
        screen.wait_for("state kept\nwork In [2]:")
        other = self.start_cell()
        screen.wait_to_show(f"process {other.pid} runs cell 2:")
        screen.keys("C-c")
        screen.wait_to_show(f"interrupt the cell of eval, process {other.pid}? [y/N]")
        screen.keys("n")
        screen.wait_for("work In [2]:")
        self.assertIsNone(other.poll())
        screen.keys("C-c", "y")
        self.assertEqual(other.wait(DEADLINE_S), 1)
        screen.wait_for("state kept\nwork In [3]:")

    def test_a_cell_waits_for_that_of_another_and_says_so(self):
        screen = self.screen()
        other = self.start_cell()
        screen.wait_for("\non\nwork In [1]:")
        screen.keys("'mine'", "Enter")
        screen.wait_to_show(f"cellar: waits for the cell of eval, process {other.pid}; Ctrl-C gives it up")
        screen.keys("C-c")
        screen.wait_for("was not run\nwork In [1]:")
        self.assertIsNone(other.poll())
        screen.keys("'mine again'", "Enter")
        screen.wait_to_show("'mine again'\ncellar: waits")
        self.run_cellar("interrupt", "work")
        screen.wait_for("\n'mine again'\nwork In [3]:")

    def test_a_command_waits_for_the_cell_of_another_and_says_so(self):
        screen = self.screen()
        other = self.start_cell()
        screen.wait_for("\non\nwork In [1]:")
        screen.enter(":reset", f"drop the state of the cell of eval, process {other.pid}? [y/N]")
        screen.keys("y")
        screen.wait_for(f"cellar: waits for the cell of eval, process {other.pid}; Ctrl-C can interrupt it")
        screen.keys("C-c")
        screen.wait_to_show(f"interrupt the cell of eval, process {other.pid}? [y/N]")
        screen.keys("y")
        screen.wait_for("cellar: a fresh namespace\nwork In [1]:")
        self.assertEqual(other.wait(DEADLINE_S), 1)

    def test_undo_asks_before_it_ends_the_cell_of_another(self):
        screen = self.screen()
        screen.enter("x = 1", "In [2]:")
        wait_until(lambda: "rewinds to before cell 2" in self.sessions(), "a snapshot")
        other = self.start_cell(f"x = 2; {SLEEP}")
        screen.wait_for("\non\nwork In [2]:")
        question = f"work In [2]:\nend the cell of eval, process {other.pid}? [y/N]"
        screen.enter(":undo", question)
        screen.keys("n")
        screen.wait_for("work In [2]: :undo\nwork In [2]:")
        self.assertIsNone(other.poll())
        screen.enter(":undo", question)
        screen.keys("y")
        screen.wait_for("cellar: the state is that of before cell 2\nwork In [2]:")
        self.assertEqual(other.wait(DEADLINE_S), 1)
        screen.enter("x", "\n1\nwork In [3]:")

    def test_cells_of_others_are_taken_back_only_after_a_question(self):
        self.run_in_session("x = 1")
        wait_until(lambda: "rewinds to before cell 2" in self.sessions(), "a snapshot")
        screen = self.screen(at="work In [2]:")
        screen.enter("x = 2", "In [3]:")
        wait_until(lambda: "rewinds to before cell 2, 3" in self.sessions(), "a snapshot")
        screen.enter("x = 3", "In [4]:")
        screen.enter(":undo", "cellar: the state is that of before cell 3\nwork In [3]:")  # one's own
        self.run_in_session("x = 4")
        screen.wait_for("work In [4]:")
        question = "take back 1 cell that was not run at this prompt? [y/N]"
        for command in (":undo", ":rewind 3"):
            screen.enter(command, f"work In [4]:\n{question}")
            screen.keys("n")
            screen.wait_for("work In [4]:")
        screen.enter("x", "\n4\nwork In [5]:")
        screen.enter(":rewind 3", question)
        self.run_in_session("y = 5")  # the question is another now
        screen.wait_for(f"work In [6]:\n{question}")
        screen.keys("y")
        screen.wait_for("work In [6]:\ntake back 2 cells that were not run at this prompt? [y/N]")
        screen.keys("y")
        screen.wait_for("cellar: the state is that of before cell 3\nwork In [3]:")
        screen.enter("x", "\n2\nwork In [4]:")
        screen.enter(":reset", "drop the state of 1 cell that was not run at this prompt? [y/N]")
        screen.keys("y")
        screen.wait_for("cellar: a fresh namespace\nwork In [1]:")
        screen.enter("x = 6", "In [2]:")
        screen.enter(":reset", "cellar: a fresh namespace\nwork In [1]:")

    def test_whose_cells_they_are_is_known_in_a_branch_and_back_from_it(self):
        screen = self.screen()
        screen.enter("x = 1", "In [2]:")
        screen.enter(":branch other", ":switch other goes there\nwork In [2]:")
        screen.enter(":switch other", "\nother In [2]:")
        screen.enter(":undo", "cellar: the state is that of before cell 1: a fresh namespace\nother In [1]:")
        screen.enter(":switch work", "\nwork In [2]:")
        screen.enter(":reset", "cellar: a fresh namespace\nwork In [1]:")

    def test_ctrl_d_leaves_the_cell_of_another_and_asks_nothing(self):
        terminal = self.prompt()
        other = self.start_cell()
        terminal.wait_for("on\r\n")
        terminal.send("'mine'\r")
        terminal.wait_for("Ctrl-C gives it up")
        terminal.send("\x04")
        self.assertEqual(terminal.exit_code(), 0)
        self.assertNotIn(b"[y/N]", terminal.output)
        self.assertIsNone(other.poll())

    def test_ctrl_d_asks_before_it_ends_the_own_cell(self):
        terminal = self.prompt()
        terminal.send(SLEEP + "\r")
        terminal.wait_for("on\r\n")
        self.leave(terminal)
        wait_until(lambda: "idle" in self.sessions(), "the session without its cell")

    def test_a_crash_is_said_and_the_prompt_goes_on(self):
        screen = self.screen()
        screen.keys("import os; os._exit(9)", "Enter")
        screen.wait_to_show("exited with code 9")
        screen.wait_for("work In [1]:")
        screen.enter("1 + 1", "this cell ran in a fresh session\nwork In [2]:")

    def test_the_prompt_does_not_freeze_while_a_daemon_starts(self):
        screen = self.screen()
        os.kill(self.daemon_pid(), signal.SIGKILL)
        screen.wait_for("the next cell starts anew\nwork In [1]:")
        with open(os.path.join(self.directory, "start.lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            screen.enter("6 * 7", "6 * 7\ncellar: waits for the daemon to start; Ctrl-C gives it up")
            screen.keys("C-c")
            screen.wait_for("cellar: given up: there is no daemon yet\nwork In [1]:")
            screen.enter("6 * 9", "6 * 9\ncellar: waits for the daemon to start; Ctrl-C gives it up")
            another = Terminal(self, *self.command)
            another.wait_for("waits for the daemon")
            another.send("\x03")
            self.assertEqual(another.exit_code(), 130)
        screen.wait_for("\n54\nwork In [2]:")

    def test_a_daemon_that_is_killed_is_said_and_the_next_cell_starts_another(self):
        screen = self.screen()
        screen.enter("x = 1", "In [2]:")
        screen.keys(SLEEP, "Enter")
        screen.wait_to_show("\non")
        os.kill(self.daemon_pid(), signal.SIGKILL)
        screen.wait_for("the next cell starts anew\nwork In [1]:")
        screen.enter("x", "In [2]:")
        self.assertIn("NameError", screen.text())
        self.assertIn("the daemon that had the session has ended", screen.text().replace("\n", " "))

    def test_input_is_asked_of_the_prompt_whose_cell_asks(self):
        screen, onlooker = self.screen(), self.screen()
        screen.enter("name = input('who? '); name.upper()", "\nwho?")
        screen.enter("Ada", "\nwho? Ada\n'ADA'\nwork In [2]:")
        onlooker.wait_for("\n'ADA'\nwork In [2]:")
        screen.enter("import getpass; getpass.getpass('word: ') == 'sesame'", "\nword:")
        screen.enter("sesame", "\nword:\nTrue\nwork In [3]:")
        screen.enter("input('again? ')", "\nagain?")
        screen.keys("C-c")
        screen.wait_for("state kept\nwork In [4]:")

    def test_commands(self):
        path = os.path.join(self.state, "cells.ipynb")
        screen = self.screen()
        screen.enter("x = [1]", "In [2]:")
        wait_until(lambda: "rewinds to" in self.sessions(), "a snapshot")
        screen.enter("x.append(2)", "In [3]:")
        screen.enter(":undo", "cellar: the state is that of before cell 2\nwork In [2]:")
        screen.keys("x.app")
        wait_until(lambda: screen.keys("Tab") or screen.text().endswith("In [2]: x.append\nappend(object, /)"),
                   "an answer within its time")
        screen.enter("(3); x", "\n[1, 3]\nwork In [3]:")
        self.run_in_session("x.append(4)")
        screen.wait_for("In [4]:")
        screen.keys(f":save {path}", "Enter")
        wait_until(lambda: os.path.exists(path), "the file")
        with open(path) as file:
            self.assertEqual(["".join(cell["source"]) for cell in json.load(file)["cells"]],
                             ["x = [1]", "x.append(3); x", "x.append(4)"])
        screen.enter(":branch other", ":switch other goes there\nwork In [4]:")
        screen.enter(":switch other", "\nother In [4]:")
        screen.enter("x", "\n[1, 3, 4]\nother In [5]:")
        screen.keys("Up", "Up")  # the history is the session's
        screen.wait_for("other In [5]: x")
        screen.keys("C-c")
        screen.enter(":sessions", "  work, 4 cells run\n* other, 1 cell run\nother In [5]:")
        screen.enter(":reset", "drop the state of 1 cell that was not run at this prompt? [y/N]")
        screen.keys("y")
        screen.wait_for("a fresh namespace\nother In [1]:")
        screen.enter(":switch nowhere", ":sessions lists them\nother In [1]:")

    def test_rewind(self):
        screen = self.screen()
        for i in (1, 2, 3):
            screen.enter(f"x = {i}", f"In [{i + 1}]:")
            wait_until(lambda: f"rewinds to before cell {', '.join(map(str, range(2, i + 2)))}" in self.sessions(), "a snapshot")
        screen.enter(":rewind 3", "cellar: the state is that of before cell 3\nwork In [3]:")
        screen.enter("x", "\n2\nwork In [4]:")
        screen.keys(":rewind 9", "Enter")
        # The newest is taken when the session is idle: perhaps not yet.
        screen.wait_to_match(r"cellar: no snapshot stands before cell 9; the kept ones stand before 2, 3(, 4)?\n")
        screen.enter(":rewind", "cellar: usage: :rewind N\nwork In [4]:")

    def test_load_runs_the_cells_of_a_file_and_stops_at_one_that_fails(self):
        path = os.path.join(self.state, "cells.py")
        with open(path, "w") as file:
            file.write("# %%\nx = 6\n# %%\nx * 7\n# %%\n1 / 0\n# %%\nprint('never')\n")
        screen, onlooker = self.screen(), self.screen()
        screen.enter(f":load {path}", "ZeroDivisionError: division by zero\nwork In [4]:")
        self.assertIn("\nwork In [1]: x = 6\nwork In [2]: x * 7\n42\nwork In [3]: 1 / 0\n", screen.text())
        onlooker.wait_for("division by zero\nwork In [4]:")
        self.assertIn("runs cell 2:\nx * 7\n42\n", onlooker.text())
        screen.keys(f":load {path}.missing", "Enter")
        screen.wait_to_show("No such file")

    def test_question_marks_tell_what_something_is(self):
        screen = self.screen()
        screen.enter("def compute(first): 'Says what it does.'; return first", "In [2]:")
        screen.enter("compute?", "In [3]:")
        self.assertIn("Says what it does.", screen.text())
        screen.enter("compute??", "In [4]:")
        self.assertIn("return first", screen.text().partition("compute??")[2])

    def test_a_cell_that_runs_inside_ones_own_is_shown_and_not_saved(self):
        path = os.path.join(self.state, "cells.py")
        screen, onlooker = self.screen(), self.screen()
        agent = self.connect()
        agent.ask("tools", tools=[{"name": "ask"}])
        screen.keys("x = 1; print('before'); print(tool.ask({})); x", "Enter")
        call = agent.next_frame(type="call")
        agent.eval("print('inside'); x = 2", session="work", parent=call["parent"], by="Ada")
        agent.send(type="reply", call=call["call"], value="answer")
        shown = "before\ncellar: Ada runs a cell inside this one:\nprint('inside'); x = 2\ninside\nanswer\n2\nwork In ["
        screen.wait_to_show(shown)
        onlooker.wait_to_show(shown)
        screen.keys(f":save {path}", "Enter")
        screen.wait_to_show("1 cell saved")
        with open(path) as file:
            self.assertNotIn("inside", file.read())

    def test_a_notebook_that_runs_is_shown_and_can_be_interrupted(self):
        path = os.path.join(self.state, "a.ipynb")
        self.run_cellar("notebook", "new", path)
        for code in (SLEEP, "x = 'from a notebook'; print(x)"):
            self.run_cellar("notebook", "insert", path, "0", "--source", code)
        screen = self.screen()
        running = self.start("notebook", "run", "-s", "work", path)
        screen.wait_for(f"cellar: notebook, process {running.pid} runs cell 2:\n{SLEEP}\non\nwork In [2]:")
        self.assertIn(f"process {running.pid} runs cell 1:\nx = 'from a notebook'; print(x)\nfrom a notebook\n",
                      screen.text())
        late = self.screen(at=f"process {running.pid} runs cell 2:\n{SLEEP}\non\nwork In [2]:")
        late.keys("C-c")
        late.wait_to_show(f"interrupt the cell of notebook, process {running.pid}? [y/N]")
        late.keys("y")
        self.assertEqual(running.wait(DEADLINE_S), 130)
        screen.wait_for("state kept\nwork In [3]:")

    def test_what_others_do_to_the_session_is_said(self):
        screen = self.screen()
        screen.enter("x = 1", "In [2]:")
        self.run_cellar("reset", "work")
        screen.wait_for("has reset the session: a fresh namespace\nwork In [1]:")
        self.run_cellar("close", "work")
        screen.wait_for("the session was closed; the next cell opens it anew\nwork In [1]:")
        screen.enter("'x' in globals()", "\nFalse\nwork In [2]:")


class Eval(AttachTest):
    def test_it_says_how_a_cell_is_that_takes_long(self):
        screen = Screen(self, "eval", "-s", "work", "phase('sleeping'); import time; time.sleep(600)")
        screen.wait_to_show("s  sleeping")
        self.run_cellar("interrupt", "work")

    def test_images_are_saved_where_the_terminal_shows_none(self):
        terminal = Terminal(self, "eval", "-s", "work",
                            "class Dot:\n    def _repr_png_(self): return b'\\x89PNG\\r\\n\\x1a\\n'\nDot()")
        terminal.wait_for("[image/png, 8 bytes: ")
        path = terminal.wait_for("]")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"\x89PNG\r\n\x1a\n")
        self.assertEqual(terminal.exit_code(), 0)


if __name__ == "__main__":
    unittest.main()
