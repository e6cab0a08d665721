"""Frames that no server sent, for tests of the checks: whatever a test wants clients to be told."""
import collections
import os
import tempfile
import unittest

from clients import Clients
from session_model import Violation


class Mute:
    def send(self, **request):
        pass


class FakeFrames(unittest.TestCase):
    def setUp(self):
        with tempfile.NamedTemporaryFile("w", delete=False) as witness:
            self.witness = witness.name
        self.addCleanup(os.unlink, self.witness)
        self.clients = Clients([Mute(), Mute()], self.witness, seed=0)
        self.addCleanup(self.clients.close_all)
        self.results = collections.defaultdict(list)  # call -> cells
        self.background = collections.defaultdict(str)  # call -> text

    def call(self, session="work", cells=1):
        return self.clients.send_call(session, [""] * cells)

    def frame(self, call, type, **fields):
        self.clients.frames[call.client].append({"id": call.id, "type": type, **fields})
        self.clients.take_frames()

    def start(self, call, cell=0):
        self.frame(call, "started", cell=cell)

    def say(self, call, text, cell=0, **fields):
        self.frame(call, "stdout", cell=cell, text=text, **fields)

    def finish(self, call, cell=0, found=(), status="complete"):
        """The cell tells itself, its worker and what it found, and is over."""
        token = call.tokens[cell]
        self.say(call, f"{token} begin {os.getpid()} {','.join(found)}\n{token} end\n", cell)
        told = {"status": status, "execution_count": len(found) + 1, "runs": 1, "state": "kept", "state_detail": "", "notices": [],
                "error": None}
        self.results[call].append({**told, "outputs": [{"type": "stdout", "text": call.text[token]}]})
        with open(self.witness, "a") as witness:
            print(token, file=witness)
        self.frame(call, "finished", cell=cell, **told)

    def end(self, call, status="ok"):
        not_run = {"status": "not_run", "runs": 0, "outputs": []}
        cells = self.results[call] + [not_run] * (len(call.tokens) - len(self.results[call]))
        background = [{"type": "stdout", "text": self.background[call]}]
        self.frame(call, "done", status=status, result={"cells": cells, "background": background, "session": {"state": "kept"}})

    def refuse(self, call, ename="Cancelled"):
        self.frame(call, "done", status="refused", error={"ename": ename, "evalue": ""})

    def run_call(self, session="work", cells=1, found=()):
        call = self.call(session, cells)
        for cell in range(cells):
            self.start(call, cell)
            self.finish(call, cell, (*found, *call.tokens[:cell]))
        self.end(call)
        return call

    def answer(self, type, status="ok", **fields):
        """To the one request of that type."""
        id, = [id for id, (asked, _) in self.clients.requests.items() if asked == type]
        error = {"ename": "Conflict", "evalue": ""} if status == "refused" else None
        self.clients.take({"id": id, "type": "done", "status": status, "error": error, **fields})

    def ask_to_branch(self, close_first=False):
        """Where the new session comes from, and its name: both are chosen at random."""
        self.clients.random.random = lambda: 0 if close_first else 1
        self.clients.branch()
        session, = self.clients.awaited
        (source, _), = self.clients.lineage.branches[session]
        return source, session

    def found(self, words):
        return self.assertRaisesRegex(Violation, words)
