"""A server, a fixed piece of work for it, and what must hold whatever happens to its processes meanwhile."""
import os
import subprocess
import tempfile

from line_client import LineClient
from program import SLOWNESS, ProgramTest

SPILLS = "import subprocess\nsubprocess.run(['echo', 'child'])\nprint('y' * 100_000)"
ASKS = "try: tool.nobody()\nexcept RuntimeError: print('nobody answers')"
CELL_LIMIT_S = 5 * SLOWNESS  # for one whose worker stands still


def run(session, *codes, **fields):
    return {"type": "eval", "session": session, **fields,
            "cells": [{"code": code, "timeout": CELL_LIMIT_S} for code in codes]}


# Requests in order, each sent when the one before is answered. A call may carry the request to send while it runs.
SCENARIO = [
    run("s", "x = 1; x"),
    run("s", SPILLS),
    {"type": "branch", "session": "s", "new_session": "t"},
    run("t", ASKS, "x += 1", "x"),
    run("s", "import os; os._exit(3)"),
    run("s", "x"),
    run("s", "import time; time.sleep(60)", meanwhile={"type": "interrupt", "session": "s"}),
    {"type": "rewind", "session": "s"},
    {"type": "sessions"},
    {"type": "reset", "session": "s"},
    run("fresh", "6 * 7"),
    run("s", "6 * 7"),
    {"type": "close", "session": "s"},
    {"type": "close", "session": "t"},
]
STATUSES = ["ok", "ok", "ok", "ok", "error", "ok", "cancelled", "ok", "ok", "ok", "ok", "ok", "ok", "ok"]
VALUES = {0: "1", 3: "2", 5: "1", 10: "42", 11: "42"}
UNDONE = {3: "1"}  # when it is said that the state is that of an earlier cell
LISTED = 8
# What was done to the server before these is over: they must succeed.
FRESH, OLD = 10, 11
# A template that does not start is given up after 30 seconds.
PATIENCE_S = 45 * SLOWNESS


class FaultTest(ProgramTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)
        self.env["PI_ARTIFACTS_DIR"] = os.path.join(self.folder, "artifacts")
        self.env["CELLAR_INTERRUPT_GRACE_S"] = "0.5"
        self.env["CELLAR_SNAPSHOTS"] = "always"  # not when the machine finds the time

    def serve(self, **options):
        self.process = self.start("serve", stdin=subprocess.PIPE, bufsize=0, **options)
        return LineClient(self.process.stdin, self.process.stdout, hello=False)

    def play(self, client, before_each=lambda number: None):
        """Plays the scenario to the end of the output. Returns the last frame of each request; fewer than there are if the
        server has ended."""
        answers = []
        try:
            self.ask_all(client, before_each, answers)
            client.out.close()
        except BrokenPipeError:
            pass
        except AssertionError:
            self.process.kill()  # it hangs, and would count as something left in what comes next
            raise
        self.check_nothing_is_answered_again(client)
        return answers

    def ask_all(self, client, before_each, answers):
        if client.next_frame(type="hello", deadline_s=PATIENCE_S) is None:
            return
        for number, request in enumerate(SCENARIO):
            before_each(number)
            request = dict(request)
            meanwhile = request.pop("meanwhile", None)
            client.send(id=number, **request)
            if meanwhile:
                # Refused or answered; only a cell that runs is in need of it.
                frame = client.next_frame(number)
                while frame and frame["type"] not in ("started", "done"):
                    frame = client.next_frame(number)
                if frame and frame["type"] == "done":
                    client.frames.appendleft(frame)
                elif frame:
                    client.send(id="meanwhile", **meanwhile)
            answer = client.done(number, deadline_s=PATIENCE_S)
            if answer is None:
                return
            answers.append(answer)

    def check_nothing_is_answered_again(self, client):
        frames = list(client.frames)
        while (frame := client.read_frame()) is not None:
            frames.append(frame)
        again = [frame["id"] for frame in frames if frame["type"] == "done"]
        self.assertIn(again, ([], ["meanwhile"]))

    def check_answers(self, answers, succeed=()):
        """What was said of x is true or an honest failure: where it is not defined, a result has told of the loss. Those
        that `succeed` have no excuse."""
        told = False
        for number, answer in enumerate(answers):
            if number in succeed:
                self.assertEqual(answer["status"], "ok", answer)
            cells = answer.get("result", {}).get("cells", [])
            tells = any(cell["state"] != "kept" for cell in cells)
            told = told or tells
            if number not in VALUES or not cells:
                continue
            if answer["status"] == "ok":
                values = [output["data"]["text/plain"] for output in cells[-1]["outputs"] if output["type"] == "result"]
                self.assertIn(values, ([VALUES[number]], [UNDONE.get(number)] if tells else None), answer)
            elif (cells[-1]["error"] or {}).get("ename") == "NameError":
                self.assertTrue(told, answers[:number + 1])

    def check_everything_went_well(self, answers):
        self.check_answers(answers)
        self.assertEqual([answer["status"] for answer in answers], STATUSES)
