"""Many clients do everything at once to one session, leave in the middle of it and do not read: each request of those who
stay is answered once, the session can be used after it, and nothing is held for those who left.

CELLAR_STORM_S says for how long, CELLAR_FAULT_SEED repeats the choice of requests."""
import collections
import json
import os
import random
import re
import select
import subprocess
import sys
import time
import unittest

from fault_test import FaultTest
from line_client import dial, listens
from program import DEADLINE_S, wait_until

SECONDS = float(os.environ.get("CELLAR_STORM_S", "6"))
SEED = int(os.environ.get("CELLAR_FAULT_SEED", random.randrange(1 << 32)))
CLIENTS = 6
CELLS = ["1", "import time; time.sleep(0.02)", "import asyncio; await asyncio.sleep(60)", "while True: pass",
         "import os; os._exit(1)", "for i in range(1000): print(i)", "x = bytearray(10_000_000)"]
STUBBORN = "while True:\n  try:\n    while True: pass\n  except BaseException: pass"


class Storm:
    """Requests of one client that are not answered yet, and those that were."""

    def __init__(self, client):
        self.client = client
        self.open = {}
        self.sent = 0

    def send(self, type, **fields):
        self.sent += 1
        self.open[self.sent] = type
        self.client.send(id=self.sent, type=type, **fields)

    def read(self):
        data = self.client.into.read(1 << 20)
        if not data:
            raise AssertionError("the host has ended")
        *lines, self.client.partial = (self.client.partial + data).split(b"\n")
        for frame in map(json.loads, lines):
            if frame["id"] not in self.open:
                raise AssertionError(f"a frame of a request that is over: {frame}")
            if frame["type"] == "done":
                del self.open[frame["id"]]


class Storms(FaultTest):
    def start_daemon(self):
        self.env["XDG_RUNTIME_DIR"] = self.folder
        self.daemon = self.start("daemon", "run", stderr=subprocess.DEVNULL)
        self.socket_path = os.path.join(self.folder, "cellar", "socket")
        wait_until(lambda: listens(self, self.socket_path), "the daemon")

    def connect(self):
        return dial(self, self.socket_path)

    def end(self, client):
        client.ask("shutdown")
        self.assertEqual(self.daemon.wait(DEADLINE_S), 0)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.daemon.pid}/fd"))

    def close_all(self, client):
        for session in client.ask("sessions")["sessions"]:
            self.assertEqual(client.ask("close", session=session["id"])["status"], "ok")

    def read_all(self, storms, seconds):
        sockets = {storm.client.into: storm for storm in storms}
        end = time.monotonic() + seconds
        while any(storm.open for storm in storms):
            ready = select.select(list(sockets), [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                return
            for each in ready:
                sockets[each].read()

    def test_everything_at_once_on_one_session(self):
        print(f"CELLAR_FAULT_SEED={SEED}", file=sys.stderr)
        choice = random.Random(SEED)
        self.start_daemon()
        last = self.connect()
        last.value("1", session="s")
        self.close_all(last)
        descriptors = self.descriptors()
        storms = [Storm(self.connect()) for _ in range(CLIENTS)]
        deaf = Storm(self.connect())
        deaf.send("watch", session="s")
        requests = {"eval": 8, "cancel": 8, "reset": 3, "close": 1, "interrupt": 3, "rewind": 2, "branch": 1, "complete": 1,
                    "sessions": 1, "leave": 1}
        sent = collections.Counter()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            storm = choice.choice(storms)
            type, = choice.choices(list(requests), requests.values())
            sent[type] += 1
            if type == "eval":
                storm.send("eval", session="s", cells=[{"code": choice.choice(CELLS)}], stream=choice.random() < 0.5)
            elif type == "cancel":
                storm.send("cancel", call=choice.choice(list(storm.open) or [0]))
            elif type == "branch":
                storm.send("branch", session="s", new_session=f"b{sent[type]}")
            elif type == "complete":
                storm.send("complete", session="s", text="x.")
            elif type == "sessions":
                storm.send("sessions")
            elif type == "leave":
                storm.client.leave()
                storms[storms.index(storm)] = Storm(self.connect())
            else:
                storm.send(type, session="s")
            if sent["eval"] % 20 == 0:
                deaf.send("eval", session="s", cells=[{"code": "print('x' * 100_000)"}])
            self.read_all(storms, choice.choice([0, 0, 0.002, 0.01]))
        print(dict(sent), file=sys.stderr)
        for storm in storms:
            for id in [id for id, type in storm.open.items() if type == "eval"]:
                storm.send("cancel", call=id)
        self.read_all(storms, DEADLINE_S)
        self.assertEqual([storm.open for storm in storms], [{}] * CLIENTS)
        for storm in [*storms, deaf]:
            storm.client.leave()
        last.ask("reset", session="s")
        last.eval("pass", session="s")  # is told of it
        self.assertEqual(last.value("6 * 7", session="s"), "42")
        self.close_all(last)
        wait_until(lambda: self.descriptors() == descriptors, f"{descriptors} descriptors, as at the start")
        self.end(last)

    def test_a_thousand_cancels_of_one_cell_end_that_cell_only(self):
        for snapshots in ("always", "off"):
            self.env["CELLAR_SNAPSHOTS"] = snapshots
            self.start_daemon()
            client = self.connect()
            for code in ("while True: pass", STUBBORN):
                with self.subTest(snapshots=snapshots, code=code):
                    self.cancel_a_thousand_times(client, code)
            self.end(client)

    def cancel_a_thousand_times(self, client, code):
        first = client.eval("x = 1", session="s")["result"]["cells"][0]["execution_count"]
        client.send(id="long", type="eval", session="s", cells=[{"code": code}])
        client.send(id="next", type="eval", session="s", cells=[{"code": "'x' in globals()"}])
        client.next_frame("long", "started")
        for i in range(1000):
            client.send(id=i, type="cancel", call="long")
        cancelled, after = client.done("long"), client.done("next")
        self.assertEqual((cancelled["status"], after["status"]), ("cancelled", "ok"))
        cell = cancelled["result"]["cells"][0]
        restored = re.search(r"before cell (\d+)", cell["state_detail"])
        # One that is killed while the snapshot before it is being taken goes back further.
        is_there = cell["state"] == "kept" or cell["state"] == "restored" and int(restored[1]) > first
        self.assertEqual(after["result"]["cells"][0]["outputs"][0]["data"]["text/plain"], str(is_there))
        answers = [client.done(i) for i in range(1000)]
        over = [answer["error"]["ename"] for answer in answers if answer["status"] != "ok"]
        self.assertEqual(set(over), {"NotFound"} if over else set())
        self.assertEqual(answers[0]["status"], "ok")

    def test_resets_of_all_clients_are_answered(self):
        self.start_daemon()
        clients = [self.connect() for _ in range(CLIENTS)]
        clients[0].eval("x = 1", session="s")
        for client in clients:
            for i in range(20):
                client.send(id=i, type="reset", session="s")
        for client in clients:
            for i in range(20):
                self.assertEqual(client.done(i)["status"], "ok")
        self.assertEqual(clients[0].eval("x", session="s")["result"]["cells"][0]["error"]["ename"], "NameError")
        self.end(clients[0])


if __name__ == "__main__":
    unittest.main()
