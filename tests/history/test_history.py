"""A history of random operations by several clients of one daemon, and the proof that each was told the truth.

CELLAR_HISTORY_SEED repeats a choice of operations, CELLAR_HISTORY_S makes it last longer.
"""
import os
import random
import subprocess
import sys
import tempfile
import unittest

from clients import BRANCHES, OPERATIONS, SESSIONS, Clients
from line_client import dial, listens
from program import DEADLINE_S, SLOWNESS, ProgramTest, wait_until
from session_model import Violation

SECONDS = float(os.environ.get("CELLAR_HISTORY_S", "12"))
CLIENTS = 4


class History(ProgramTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env["XDG_RUNTIME_DIR"] = self.folder
        self.socket_path = os.path.join(self.folder, "cellar", "socket")
        self.env["CELLAR_INTERRUPT_GRACE_S"] = "0.3"

    def connect(self):
        return dial(self, self.socket_path)

    def check(self, policy):
        seed = int(os.environ.get("CELLAR_HISTORY_SEED", random.randrange(1 << 32)))
        print(f"snapshots {policy}, CELLAR_HISTORY_SEED={seed}", file=sys.stderr)
        witness = os.path.join(self.folder, "witness")
        open(witness, "w").close()
        daemon = self.start("daemon", "run", env={"CELLAR_SNAPSHOTS": policy}, stderr=subprocess.DEVNULL)
        wait_until(lambda: listens(self, self.socket_path), "the daemon")
        last = self.connect()
        last.value("1", session="first")
        last.ask("close", session="first")
        descriptors = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        clients = Clients([self.connect() for _ in range(CLIENTS)], witness, seed)
        self.addCleanup(clients.close_all)
        try:
            clients.run(SECONDS)
            # Without snapshots there is nothing to rewind to.
            clients.check_happened(SECONDS / SLOWNESS, set(OPERATIONS) - ({"rewind"} if policy == "off" else set()))
        except (Violation, ConnectionError) as problem:
            self.fail("\n".join([*clients.log, f"seed {seed}, snapshots {policy}: {problem}"]))
        print(dict(sorted(clients.counts.items())), file=sys.stderr)
        for name in SESSIONS + BRANCHES:
            last.ask("close", session=name)
        self.assertEqual(last.ask("sessions")["sessions"], [])
        # Those of the clients, and some of the template and its spare keeper. A leak would be one for each of hundreds.
        wait_until(lambda: len(os.listdir(f"/proc/{daemon.pid}/fd")) <= descriptors + CLIENTS + 8, "descriptors closed")
        self.assertIsNone(daemon.poll())
        last.ask("shutdown")
        self.assertEqual(daemon.wait(DEADLINE_S), 0)

    def test_with_snapshots_when_idle(self):
        self.check("auto")

    def test_with_snapshots_before_every_cell(self):
        self.check("always")

    def test_without_snapshots(self):
        self.check("off")


if __name__ == "__main__":
    unittest.main()
