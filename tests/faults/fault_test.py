"""A server, a fixed piece of work for it, and what must hold whatever happens to its processes meanwhile."""
import os
import subprocess
import tempfile

from line_client import LineClient
from program import SLOWNESS, ProgramTest

SPILLS = "import subprocess\nsubprocess.run(['echo', 'child'])\nprint('y' * 100_000)"
# Requests in order, each sent when the one before is answered. An `eval` may carry the request to send while it runs.
SCENARIO = [
    {"type": "eval", "session": "s", "cells": [{"code": "x = 1; x"}]},
    {"type": "eval", "session": "s", "cells": [{"code": SPILLS}]},
    {"type": "branch", "session": "s", "new_session": "t"},
    {"type": "eval", "session": "t", "cells": [{"code": "x += 1"}, {"code": "x"}]},
    {"type": "eval", "session": "s", "cells": [{"code": "import os; os._exit(3)"}]},
    {"type": "eval", "session": "s", "cells": [{"code": "x"}]},
    {"type": "eval", "session": "s", "cells": [{"code": "import time; time.sleep(60)"}],
     "meanwhile": {"type": "interrupt", "session": "s"}},
    {"type": "rewind", "session": "s"},
    {"type": "sessions"},
    {"type": "reset", "session": "s"},
    {"type": "close", "session": "s"},
    {"type": "close", "session": "t"},
]

VALUES = {0: "1", 3: "2", 5: "1"}  # what requests answer when all goes well
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
        """Plays the scenario. Returns the last frame of each request; fewer than there are if the server has ended."""
        answers = []
        try:
            if client.next_frame(type="hello", deadline_s=PATIENCE_S) is None:
                return answers
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
                    return answers
                answers.append(answer)
            client.out.close()
        except (BrokenPipeError, ConnectionError):
            pass
        return answers

    def check_answers(self, answers):
        """What was said of x is true or an honest failure: where it is not defined, a result has told of the loss."""
        told = False
        for number, answer in enumerate(answers):
            cells = answer.get("result", {}).get("cells", [])
            told = told or any(cell["state"] != "kept" for cell in cells)
            if number not in VALUES or not cells:
                continue
            if answer["status"] == "ok":
                values = [output["data"]["text/plain"] for output in cells[-1]["outputs"] if output["type"] == "result"]
                self.assertEqual(values, [VALUES[number]], answer)
            elif (cells[-1]["error"] or {}).get("ename") == "NameError":
                self.assertTrue(told, answers[:number + 1])
