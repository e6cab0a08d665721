"""Clients that do at random what clients can do, and check what they are told. The seed gives the choice of operations."""
import collections
import json
import os
import random
import select
import signal
import time

from call import Call, tells_of_close
from cell_code import BODIES, code_of
from lineage import Lineage
from program import DEADLINE_S
from session_model import Cell, Change, SessionModel, Violation
from turns import Turns

SESSIONS = ["work", "play", "rest"]
BRANCHES = ["twig", "leaf"]
# What clients do, and how often it is chosen.
OPERATIONS = {"evaluate": 12, "cancel": 4, "interrupt": 1, "reset": 1, "close": 0.5, "rewind": 1.5, "branch": 1, "kill": 1.5}
# What was chosen so often must have been done at least once.
OFTEN = 30


def cell_in_short(cell):
    return " ".join(map(str, [cell["status"], cell["execution_count"], cell["state"], cell["state_detail"], *cell["notices"]]))


def told(done):
    """An answer in short, for the log."""
    return f"{done['id']} {done['status']} {done.get('error') or done.get('before_cell') or ''}"


class Clients:
    def __init__(self, connections, witness, seed):
        self.connections = connections  # LineClients
        self.witness = witness
        self.random = random.Random(seed)
        self.frames = [collections.deque() for _ in connections]
        self.moment = 0
        self.models = {session: SessionModel() for session in SESSIONS + BRANCHES}
        self.turns = {session: Turns(model) for session, model in self.models.items()}
        self.lineage = Lineage()
        self.calls = {}  # under way, by id
        self.all_calls = []
        self.requests = {}  # under way, by id: (type, what to do with the answer)
        self.awaited = collections.Counter()  # branches under way, by their names
        self.workers = {}  # session -> pid and pidfd of the last worker that told it
        self.done_ids = set()
        self.counts = collections.Counter()
        self.log = collections.deque(maxlen=400)  # what was sent and received last, for whoever reads of a violation

    def run(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            operation, = self.random.choices(list(OPERATIONS), OPERATIONS.values())
            getattr(self, operation)()
            self.read(self.random.choice([0, 0.001, 0.005, 0.02]))
            while len(self.calls) > 12:
                self.cancel()
                self.read(0.02)
        self.settle()

    def settle(self):
        """Ends everything, then looks once more at what each session holds."""
        end = time.monotonic() + DEADLINE_S
        while self.calls or self.requests:
            if time.monotonic() > end:
                raise Violation(f"never answered: {list(self.calls)} {list(self.requests)}")
            for id in list(self.calls):
                self.ask("cancel", self.calls[id].client, call=id)
            self.read(0.3)
        for session in SESSIONS + BRANCHES:
            self.look(session)
        self.check_runs()

    def look(self, session):
        """At what the session holds in the end. One whose workers died too often in a row is refused until it is reset."""
        call = self.send_call(session, [""])
        self.read_until_settled()
        if call.needs_reset():
            self.reset(session)
            self.read_until_settled()
            call = self.send_call(session, [""])
            self.read_until_settled()
        if call.status != "ok":
            raise Violation(f"{call.id}, the last look at {session}: {call.status} {call.error or ''}")

    def read_until_settled(self):
        end = time.monotonic() + DEADLINE_S
        while self.calls or self.requests:
            if time.monotonic() > end:
                raise Violation(f"never answered: {list(self.calls)} {list(self.requests)}")
            self.read(0.02)

    # What clients do.

    def next_moment(self):
        self.moment += 1
        return self.moment

    def any_client(self):
        return self.random.randrange(len(self.connections))

    def home(self, session):
        """The client that runs cells on the session, so that their order is certain; the others do the rest to it."""
        return (SESSIONS + BRANCHES).index(session) % len(self.connections)

    def any_session(self):
        return self.random.choices(SESSIONS + BRANCHES, [4] * len(SESSIONS) + [1] * len(BRANCHES))[0]

    def evaluate(self):
        count = self.random.choice([1, 1, 1, 2, 3])
        bodies = self.random.choices(list(BODIES), BODIES.values(), k=count)
        session = self.any_session()
        # A call opens the session if it is not there, and then it cannot be branched.
        if self.awaited[session] and self.random.random() < 0.9:
            return
        self.send_call(session, bodies, reset=self.random.random() < 0.05,
                       retry="once" if self.random.random() < 0.3 else "never",
                       timeout=1 if self.random.random() < 0.03 else 30)

    def send_call(self, session, bodies, reset=False, retry="never", timeout=30):
        client, moment = self.home(session), self.next_moment()
        id = f"call{moment}"
        tokens = [f"t{moment}.{i}" for i in range(len(bodies))]
        cells = [{"code": code_of(token, self.witness, body), "timeout": timeout} for token, body in zip(tokens, bodies)]
        if reset:
            cells[0]["reset"] = True
        call = Call(id, client, session, tokens, {tokens[0]} if reset else set(), moment)
        self.calls[id] = call
        self.all_calls.append(call)
        self.lineage.on_call(call)
        self.counts["evaluate"] += 1
        self.log.append(f"{moment} -> {session} {id} reset={reset} retry={retry} {timeout} s {bodies}")
        self.connections[client].send(id=id, type="eval", session=session, cells=cells, retry=retry)
        return call

    def ask(self, type, client=None, then=lambda done: None, **fields):
        """Sends a request that has one answer; some may be refused for good reasons."""
        client = self.any_client() if client is None else client
        id = f"{type}{self.next_moment()}"
        self.requests[id] = (type, then)
        self.counts[type] += 1
        self.log.append(f"{self.moment} -> {id} {fields}")
        self.connections[client].send(id=id, type=type, **fields)

    def change(self, type, session, effect, **fields):
        change = Change(type, self.next_moment(), effect)
        self.models[session].on_change(change)
        def then(done):
            change.answered = self.next_moment()
            change.refused = done["status"] != "ok"
        return change, then

    def cancel(self):
        if not self.calls:
            return
        id = self.random.choice(list(self.calls))
        for _ in range(self.random.choice([1, 1, 1, 2])):  # the second kills
            self.ask("cancel", self.calls[id].client, call=id)

    def interrupt(self):
        self.ask("interrupt", session=self.any_session())

    def reset(self, session=None):
        session = session or self.any_session()
        _, then = self.change("reset", session, lambda: SessionModel.FRESH)
        self.ask("reset", then=then, session=session)

    def close(self, session=None, client=None):
        session = session or self.any_session()
        change, then = self.change("close", session, lambda: SessionModel.FRESH)
        self.lineage.closes[session].append(change)
        self.ask("close", client, then=then, session=session)
        return change

    def rewind(self):
        session = self.any_session()
        model = self.models[session]
        stand = [None]  # unknown until it is answered
        _, answered = self.change("rewind", session, lambda: model.states_by_rewind(stand[0]))
        def then(done):
            stand[0] = done.get("before_cell")
            answered(done)
        known = [count for count in model.known if count > 0]
        cell = self.random.choice([None, self.random.choice(known)])
        self.ask("rewind", then=then, session=session, **({} if cell is None else {"cell": cell}))

    def branch(self):
        source, session, client = self.random.choice(SESSIONS), self.random.choice(BRANCHES), self.any_client()
        # The name has to be free, and mostly is not.
        close = self.close(session, client) if self.random.random() < 0.7 else None
        model = self.models[source]
        stand = [None]
        change, answered = self.change("branch", session, lambda: model.states_ever(stand[0]))
        self.lineage.branches[session].append((source, change))
        self.awaited[session] += 1
        def then(done):
            stand[0] = done.get("before_cell")
            answered(done)
            self.awaited[session] -= 1
            if close and not change.refused:
                close.effect = frozenset  # nobody found an empty session between them
        self.ask("branch", client, then=then, session=source, new_session=session)

    def kill(self, session=None):
        session = session or self.any_session()
        if session not in self.workers:
            return
        pid, descriptor = self.workers[session]
        self.counts["kill"] += 1
        # One that had ended already, even if nobody has waited for it yet, excuses no loss.
        if select.select([descriptor], [], [], 0)[0]:
            return
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.models[session].kills.append(self.next_moment())
        self.counts["kill, done"] += 1
        self.log.append(f"{self.moment} kill of {session}'s worker {pid}")

    def note_worker(self, session, pid):
        """Keeps hold of the worker: its number may be another process's soon."""
        known, descriptor = self.workers.get(session, (None, None))
        if known == pid:
            return
        if descriptor is not None:
            os.close(descriptor)
            del self.workers[session]
        try:
            self.workers[session] = (pid, os.pidfd_open(pid))
        except ProcessLookupError:
            pass

    def close_all(self):
        for _, descriptor in self.workers.values():
            os.close(descriptor)

    # What they are told.

    def read(self, seconds):
        """Reads for that long."""
        end = time.monotonic() + seconds
        sockets = {client.into: number for number, client in enumerate(self.connections)}
        left = seconds
        while ready := select.select(list(sockets), [], [], max(0, left))[0]:
            # What was said before the last thing read is read as well before any of it is taken.
            while ready:
                for socket in ready:
                    self.receive(sockets[socket])
                ready = select.select(list(sockets), [], [], 0)[0]
            self.take_frames()
            left = end - time.monotonic()

    def receive(self, number):
        client = self.connections[number]
        data = client.into.read(1 << 20)
        if not data:
            raise Violation("the host has ended")
        *lines, client.partial = (client.partial + data).split(b"\n")
        self.frames[number].extend(map(json.loads, lines))

    def take_frames(self):
        """A frame that seems wrong may only have come before another client's, of a session that branched: it is judged
        when those have been taken."""
        progress = True
        while progress:
            progress, problem = False, None
            for frames in self.frames:
                while frames:
                    try:
                        self.take(frames[0])
                    except Violation as violation:
                        problem = violation
                        break
                    frames.popleft()
                    progress = True
        if problem:
            raise problem

    def take(self, frame):
        id, type = frame["id"], frame["type"]
        if id in self.done_ids:
            raise Violation(f"a frame after the last: {frame}")
        if id in self.requests:
            if type != "done":
                raise Violation(f"no answer: {frame}")
            self.take_answer(*self.requests.pop(id), frame)
        elif id not in self.calls:
            raise Violation(f"a frame for nobody: {frame}")
        else:
            self.take_of_call(self.calls[id], frame)
        if type == "done":
            self.done_ids.add(id)
            self.log.append(f"{self.moment} <- {told(frame)}")

    def take_answer(self, type, then, done):
        then(done)
        # An interrupt is answered well also when there was nothing to interrupt.
        if done["status"] == "ok" and done.get("interrupted", True):
            self.counts[f"{type}, done"] += 1

    def take_of_call(self, call, frame):
        type = frame["type"]
        if type == "done":
            return self.take_result(call, frame)
        if type == "started":
            call.check_next(frame["cell"])
            self.turns[call.session].begin(call)
            call.begun += 1
            return
        if frame.get("background"):
            # Also before the first cell, and between two. On stderr are only words of Python's own.
            if type == "stdout":
                call.check_background(frame["text"], self.lineage, running=call.running())
                call.background.append(frame["text"])
            return
        token = call.token_of(frame)
        if type == "finished":
            self.take_cell(call, token, frame)
        elif type == "stdout":
            call.text[token] += frame["text"]

    def take_cell(self, call, token, cell):
        pid, seen = call.check_cell(token, cell, self.lineage)
        model = self.models[call.session]
        if tells_of_close(cell):
            # Another session of that name may be in use already.
            if not model.closed_since(call.sent):
                raise Violation(f"{token}: nobody closed the session")
        else:
            take = model.on_cell if cell["runs"] > 0 else model.on_unsent
            take(Cell(token, call.sent, self.moment + 1, cell, reset=token in call.resets, seen=seen))
        call.finished[token] = cell
        self.next_moment()
        self.log.append(f"{self.moment} <- {call.session} {token} {cell_in_short(cell)} (worker {pid})")
        self.counts[f"{cell['status']}, state {cell['state']}"] += 1
        self.counts["run again"] += cell["runs"] == 2
        if pid:
            self.note_worker(call.session, pid)

    def take_result(self, call, done):
        call.check_answer(done, self.lineage)
        if done["status"] == "refused":
            self.counts[f"refused, {done['error']['ename']}"] += 1
        elif done["status"] == "ok":
            self.counts["evaluate, done"] += 1
        elif call.resets and done["result"]["cells"][0]["status"] == "not_run" and done["result"]["session"]["state"] == "fresh":
            self.models[call.session].on_reset(call.sent, self.moment + 1)
        call.end(done, self.next_moment())
        self.turns[call.session].end(call)
        del self.calls[call.id]

    def check_runs(self):
        """A cell is run as often as its result says, and no oftener."""
        with open(self.witness) as witness:
            ran = collections.Counter(witness.read().split())
        for call in self.all_calls:
            for token in call.tokens:
                if ran[token] > call.runs[token]:
                    raise Violation(f"{token} ran {ran[token]} times, and its result says {call.runs[token]}")

    def check_happened(self, seconds, operations):
        """One cell went well for every second, and something of all that was often tried."""
        well = self.counts["complete, state kept"]
        if well < seconds:
            raise Violation(f"{well} cells went well in {seconds} s: {dict(self.counts)}")
        never = [operation for operation in operations
                 if self.counts[operation] >= OFTEN and not self.counts[f"{operation}, done"]]
        if never:
            raise Violation(f"never done: {never}: {dict(self.counts)}")
