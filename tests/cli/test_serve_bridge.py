"""`cellar serve` for a client whom cells ask: for tools, for a model, for a line of input."""
import os
import signal
import unittest

from server import ServeTest


class Bridge(ServeTest):
    """A client that plays the agent: it announces tools, and answers the calls of cells."""

    def serve_tools(self):
        self.asked, self.answered, self.withdrawn = [], [], []  # the numbers of calls
        client = self.serve()
        tools = [{"name": name, "description": f"does {name}", "schema": {"type": "object"}}
                 for name in ("add", "fail", "hang")]
        self.assertEqual(client.ask("tools", tools=tools, budget={"total": 100, "spent": 1})["status"], "ok")
        return client

    def answer_until(self, client, is_last):
        """Answers calls, but those of `hang`, until a frame is the last; returns that one."""
        while True:
            frame = client.next_frame()
            if frame["type"] == "call":
                self.asked.append(frame["call"])
                self.answer(client, frame)
            elif frame["type"] == "withdraw":
                self.withdrawn.append(frame["call"])
            if is_last(frame):
                return frame

    def answer(self, client, call):
        if call["name"] == "hang":
            return
        reply = {"value": sum(call["args"]["of"])} if call["name"] == "add" else {"error": "it failed"}
        client.send(type="reply", call=call["call"], **reply)
        self.answered.append(call["call"])

    def done(self, client, id):
        """The last frame of an eval whose calls are answered."""
        return self.answer_until(client, lambda frame: frame["type"] == "done" and frame["id"] == id)

    def test_cells_call_the_client_from_threads_and_from_async_code(self):
        client = self.serve_tools()
        client.send(id="a", type="eval", cells=[{"code": (
            "import asyncio\n"
            "from concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(16) as pool:\n"
            "    threads = list(pool.map(lambda i: tool.add({'of': [i, 1]}), range(64)))\n"
            "tasks = await asyncio.gather(*(tool.add.aio({'of': [i, 2]}) for i in range(64)))\n"
            "threads == list(range(1, 65)), tasks == list(range(2, 66)), sorted(dir(tool)), budget.total")}])
        self.assertEqual(self.done(client, "a")["result"]["cells"][0]["outputs"][-1]["data"]["text/plain"],
                         "(True, True, ['add', 'fail', 'hang'], 100)")
        self.assertEqual((len(self.asked), len(set(self.asked))), (128, 128))

    def test_an_answer_may_have_an_id(self):
        client = self.serve_tools()
        client.send(id="a", type="eval", cells=[{"code": "tool.add({})"}])
        client.send(id="r", type="reply", call=client.next_frame(type="call")["call"], value=6)
        self.assertEqual(client.done("a")["result"]["text"], "6")

    def test_an_error_is_raised_in_the_cell(self):
        client = self.serve_tools()
        client.send(id="a", type="eval", cells=[{"code": "tool.fail({})"}])
        error = self.done(client, "a")["result"]["cells"][0]["error"]
        self.assertIn("it failed", error["evalue"])

    def test_an_answer_that_cannot_be_read_is_an_error_of_the_call(self):
        client = self.serve_tools()
        for reply in ({"value": float("nan")}, {"value": 1, "extra": 2}, {"images": "?"}, {"error": 3}):
            client.send(id="a", type="eval", cells=[{"code": "tool.hang({})"}])
            client.send(type="reply", call=client.next_frame("a", "call")["call"], **reply)
            error = client.done("a")["result"]["cells"][0]["error"]
            self.assertIn("its answer cannot be read", error["evalue"], reply)

    def test_half_of_a_character_in_an_answer_is_replaced(self):
        client = self.serve_tools()
        client.send(id="a", type="eval", cells=[{"code": "tool.hang({})"}])
        client.send(type="reply", call=client.next_frame("a", "call")["call"], value="cut \ud83d")
        self.assertEqual(client.done("a")["result"]["text"], "'cut \ufffd'")

    def test_a_cancelled_cell_withdraws_its_call_and_a_late_answer_harms_nothing(self):
        client = self.serve_tools()
        client.send(id="a", type="eval", cells=[{"code": "tool.hang({})"}])
        call = client.next_frame("a", "call")["call"]
        client.ask("cancel", call="a")
        self.assertEqual(client.next_frame("", "withdraw")["call"], call)
        self.assertEqual(client.done("a")["status"], "cancelled")
        client.send(type="reply", call=call, value=1)
        client.send(id="b", type="eval", cells=[{"code": "tool.add({'of': [1]})"}])
        self.assertEqual(self.done(client, "b")["result"]["text"], "1")

    def test_a_worker_killed_in_a_call_withdraws_it(self):
        client = self.serve_tools()
        pid = int(client.value("import os; os.getpid()"))
        client.send(id="a", type="eval", cells=[{"code": "tool.hang({})"}])
        call = client.next_frame("a", "call")["call"]
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(client.next_frame("", "withdraw")["call"], call)
        self.assertEqual(client.done("a")["result"]["cells"][0]["error"]["ename"], "WorkerDied")

    def test_images_in_an_answer_are_shown(self):
        client = self.serve_tools()
        client.send(id="a", type="eval", cells=[{"code": "tool.hang({})['chart']"}])
        client.send(type="reply", call=client.next_frame("a", "call")["call"], value={"chart": {"$image": 0}},
                    images=[{"mime": "image/png", "data": "iVBORw0KGgo="}])
        self.assertEqual(client.next_frame("a", "result")["data"]["image/png"], "iVBORw0KGgo=")

    def hold(self, client, code="tool.hang({})"):
        """Starts a cell on session "s" that waits for the client; returns the call frame."""
        client.send(id="outer", type="eval", session="s", cells=[{"code": code}])
        return client.next_frame("outer", "call")

    def test_a_call_on_behalf_of_the_waiting_cell_runs_inside_its_wait(self):
        client = self.serve_tools()
        call = self.hold(client, "x = 41\nprint('before')\ny = tool.hang({})\nprint('after')\nx, y")
        client.send(id="inner", type="eval", session="s", parent=call["parent"],
                    cells=[{"code": "print('inside'); x += 1"}, {"code": "x"}])
        frames = client.frames_of("inner")
        self.assertEqual([(f["type"], f.get("text", "")) for f in frames[:2]], [("started", ""), ("stdout", "inside\n")])
        self.assertEqual(frames[-1]["result"]["text"], "[1/2]\ninside\n[2/2]\n42")
        self.assertEqual(client.value("2", session="t", parent=call["parent"]), "2")
        client.send(type="reply", call=call["call"], value="done")
        self.assertEqual(client.done("outer")["result"]["text"], "before\nafter\n(42, 'done')")

    def test_a_thread_that_calls_while_a_nested_cell_runs_calls_for_its_own_cell(self):
        client = self.serve_tools()
        client.send(id="out", type="eval", session="s", cells=[{"code": (
            "import threading\n"
            "go, over = threading.Event(), threading.Event()\n"
            "thread = threading.Thread(target=lambda: (go.wait(), tool.hang({}), over.set()))\n"
            "thread.start()\n"
            "tool.hang({})\n"
            "thread.join()")}])
        outer = client.next_frame(type="call")
        client.send(id="in", type="eval", session="s", parent=outer["parent"],
                    cells=[{"code": "go.set(); over.wait()"}])
        from_thread = client.next_frame(type="call")
        self.assertEqual((from_thread["id"], from_thread["parent"]), ("out", outer["parent"]))
        client.send(type="reply", call=from_thread["call"], value=1)
        self.assertEqual(client.done("in")["status"], "ok")
        client.send(type="reply", call=outer["call"], value=1)
        self.assertEqual(client.done("out")["status"], "ok")

    def test_the_text_printed_before_a_call_comes_before_it(self):
        client = self.serve_tools()
        for i in range(20):
            client.send(id=i, type="eval", cells=[{"code": f"print('line {i}'); tool.add({{'of': [{i}]}})"}])
            text = ""
            while (frame := client.next_frame(i))["type"] != "call":
                text += frame.get("text", "")
            client.send(type="reply", call=frame["call"], value=i)
            self.assertEqual(text, f"line {i}\n")
            client.done(i)

    def test_a_nested_call_can_call_and_nest_in_turn(self):
        client = self.serve_tools()
        outer = self.hold(client)
        client.send(id="middle", type="eval", session="s", parent=outer["parent"], cells=[{"code": "tool.hang({})"}])
        middle = client.next_frame("middle", "call")
        self.assertNotEqual(middle["parent"], outer["parent"])
        self.assertEqual(client.value("'deep'", session="s", parent=middle["parent"]), "'deep'")
        client.send(type="reply", call=middle["call"], value=1)
        self.assertEqual(client.done("middle")["result"]["text"], "1")
        client.send(type="reply", call=outer["call"], value=2)
        self.assertEqual(client.done("outer")["result"]["text"], "2")

    def test_a_cancelled_nested_call_leaves_the_waiting_cell_alone(self):
        client = self.serve_tools()
        call = self.hold(client)
        client.send(id="inner", type="eval", session="s", parent=call["parent"],
                    cells=[{"code": "print('on')\nwhile True: pass"}])
        client.next_frame("inner", "stdout")
        client.ask("cancel", call="inner")
        self.assertEqual(client.done("inner")["status"], "cancelled")
        client.send(type="reply", call=call["call"], value="done")
        self.assertEqual(client.done("outer")["result"]["text"], "'done'")

    def test_a_cancelled_cell_takes_what_is_nested_in_it_along(self):
        client = self.serve_tools()
        call = self.hold(client)
        client.send(id="inner", type="eval", session="s", parent=call["parent"],
                    cells=[{"code": "print('on')\nwhile True: pass"}])
        client.next_frame("inner", "stdout")
        client.ask("cancel", call="outer")
        self.assertEqual(client.done("inner")["status"], "cancelled")
        self.assertEqual(client.done("outer")["status"], "cancelled")

    def test_what_cannot_run_inside_the_wait_fails_at_once(self):
        held = "session is held by the cell that waits for you"
        client = self.serve_tools()
        call = self.hold(client)
        for fields in ({"cells": [{"code": "import asyncio; await asyncio.sleep(0)"}]},
                       {"cells": [{"code": "1", "reset": True}]}, {"cells": [{"code": "1"}], "env": {"A": "1"}}):
            client.send(id="inner", type="eval", session="s", parent=call["parent"], **fields)
            error = client.done("inner")["error"]
            self.assertEqual((error["ename"], error["evalue"][:len(held)]), ("SessionRefused", held), fields)
        client.send(type="reply", call=call["call"], value="done")
        client.done("outer")
        for code in ("await tool.hang.aio({})", "parallel([lambda: tool.hang({})])"):
            call = self.hold(client, code)
            refused = client.eval("1", session="s", parent=call["parent"])
            self.assertEqual(refused["error"], {"ename": "SessionRefused", "evalue": held})
            client.send(type="reply", call=call["call"], value="done")
            client.done("outer")
        self.assertEqual(client.eval("1", session="s", parent=call["parent"])["error"]["ename"], "NotFound")

    MANY = ("from concurrent.futures import ThreadPoolExecutor\n"
            "import asyncio, os\n"
            "def ask(i): return tool.add(of=[i]) if i < 48 else tool.hang()\n"
            "async def ask_later(i): return await (tool.add.aio(of=[i]) if i < 48 else tool.hang.aio())\n")
    WITH_THREADS = MANY + "with ThreadPoolExecutor(16) as pool: list(pool.map(ask, range(64)))"
    WITH_TASKS = MANY + "await asyncio.gather(*map(ask_later, range(64)))"

    def start_many(self, client, id, code):
        """Starts a cell of 64 calls, of which the last 16 get no answer; returns when all have been made."""
        del self.asked[:], self.answered[:], self.withdrawn[:]
        client.send(id=id, type="eval", session="s", cells=[{"code": code}])
        self.answer_until(client, lambda frame: len(self.asked) == 64)

    def check_each_was_settled_once(self):
        self.assertEqual((len(set(self.asked)), sorted(self.answered + self.withdrawn)), (64, sorted(self.asked)))

    def test_a_whole_turn_of_an_agent_has_each_call_answered_once(self):
        """Threads and tasks call; one cell is cancelled in the middle, another loses its worker."""
        client = self.serve_tools()
        for id, code in (("threads", self.WITH_THREADS), ("tasks", self.WITH_TASKS)):
            self.start_many(client, id, code)
            client.send(id="stop", type="cancel", call=id)
            self.assertEqual(self.done(client, id)["status"], "cancelled")
            self.check_each_was_settled_once()
        client.send(id="pid", type="eval", session="s", cells=[{"code": "os.getpid()"}])
        pid = int(self.done(client, "pid")["result"]["text"])
        self.start_many(client, "killed", self.WITH_THREADS)
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.done(client, "killed")["result"]["cells"][0]["error"]["ename"], "WorkerDied")
        self.check_each_was_settled_once()
        client.send(id="after", type="eval", session="s", cells=[{"code": "tool.add(of=[1, 2])"}])
        # With a word on the loss, where no snapshot was taken in time.
        self.assertEqual(self.done(client, "after")["result"]["text"].splitlines()[0], "3")

    def test_without_a_client_that_answers_the_cell_is_told_how_to_connect_one(self):
        client = self.serve()
        for code in ("tool.add({})", "llm('hi')", "agent('go')"):
            error = client.eval(code)["result"]["cells"][0]["error"]
            self.assertEqual(error["ename"], "NotConnected", code)
            self.assertIn("announce `tools` to `cellar serve`", error["evalue"])
        self.assertEqual(client.eval("output('x')")["result"]["cells"][0]["error"]["ename"], "FileNotFoundError")
        self.assertEqual(client.ask("tools", tools=[])["status"], "ok")
        self.assertEqual(client.value("tool"), "<tool: whoever runs this session offers none>")
        client.send(id="a", type="eval", cells=[{"code": "llm('hi')"}])
        call = client.next_frame("a", "call")
        self.assertEqual((call["name"], call["args"]), ("llm", {"prompt": "hi", "model": "default"}))
        client.send(type="reply", call=call["call"], value="hello")
        self.assertEqual(client.done("a")["result"]["text"], "'hello'")


class Input(ServeTest):
    """A client that has somebody whom input() can ask."""

    def serve_input(self):
        client = self.serve()
        self.assertEqual(client.ask("hello", input=True)["status"], "ok")
        return client

    def test_the_client_is_asked_and_its_answer_is_the_line(self):
        client = self.serve_input()
        client.send(id="a", type="eval", session="s", cells=[{"code": "print('hi')\nname = input('who? ')\nname"}])
        asked = client.next_frame("a", "input")
        call, parent = asked.pop("call"), asked.pop("parent")
        self.assertTrue(parent.startswith("call-"))
        self.assertEqual(asked, {"type": "input", "id": "a", "session": "s", "prompt": "who? ", "password": False})
        client.send(type="reply", call=call, value="Adä")
        self.assertIn("'Adä'", client.done("a")["result"]["text"])

    def test_passwords_debuggers_and_plain_reads_ask_too(self):
        client = self.serve_input()
        for code, prompt, password, answer, result in (
                ("import getpass; getpass.getpass('key: ')", "key: ", True, "s3cret", "'s3cret'"),
                ("import sys; sys.stdin.readline()", "", False, "x", "'x\\n'"),
                ("import pdb; pdb.run('1')", "(Pdb) ", False, "c", None),
                ("print('a'); print('b', end=': '); input()", "b: ", False, "", "''"),
                ("input('?'), input('!')", "?", False, "1\n2\n", "('1', '2')")):
            for stream in (True, False):
                with self.subTest(code, stream=stream):
                    client.send(id="a", type="eval", stream=stream, cells=[{"code": code}])
                    asked = client.next_frame("a", "input")
                    self.assertEqual((asked["prompt"], asked["password"]), (prompt, password))
                    client.send(type="reply", call=asked["call"], value=answer)
                    outputs = client.done("a")["result"]["cells"][0]["outputs"]
                    if result:
                        self.assertEqual(outputs[-1]["data"]["text/plain"], result)
                    client.frames.clear()

    def test_no_line_is_the_end_and_an_error_is_raised(self):
        client = self.serve_input()
        for reply, ename in (({"value": None}, "EOFError"), ({"error": "nobody is in"}, "BridgeError"),
                             ({"value": 3}, "BridgeError")):
            client.send(id="a", type="eval", cells=[{"code": "input()"}])
            client.send(type="reply", call=client.next_frame("a", "input")["call"], **reply)
            self.assertEqual(client.done("a")["result"]["cells"][0]["error"]["ename"], ename)

    def test_cancel_and_time_out_end_the_cell_that_waits(self):
        client = self.serve_input()
        for cell in ({"code": "input()"}, {"code": "input()", "timeout": 1}):
            client.send(id="a", type="eval", cells=[cell])
            call = client.next_frame("a", "input")["call"]
            if "timeout" not in cell:
                client.ask("cancel", call="a")
            self.assertEqual(client.next_frame("", "withdraw")["call"], call)
            ended = client.done("a")["result"]["cells"][0]
            self.assertEqual((ended["status"], ended["state"], ended["timed_out"]),
                             ("cancelled", "kept", "timeout" in cell))

    def test_a_client_that_has_nobody_to_ask_sees_the_cell_fail(self):
        client = self.serve()
        for announce in (None, True, False):
            if announce is not None:
                client.ask("hello", input=announce)
            if announce:
                continue
            cell = client.eval("input('who? ')")["result"]["cells"][0]
            self.assertEqual((cell["error"]["ename"], cell["stdin_requested"]), ("StdinNotAvailable", True))


if __name__ == "__main__":
    unittest.main()
