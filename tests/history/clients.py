"""Clients that do at random what clients can do, and check what they are told. The seed gives the choice of operations."""
import collections
import json
import os
import random
import re
import select
import signal
import time

from program import DEADLINE_S
from session_model import Cell, Change, SessionModel, Violation

SESSIONS = ["work", "play", "rest"]
BRANCHES = ["twig", "leaf"]
# What a cell does after it has noted itself, and how often it is chosen.
BODIES = {
    "": 8,
    "for i in range(300): print(token, 'line', i)": 3,
    "import time; time.sleep(0.03)": 4,
    "import asyncio; await asyncio.sleep(0.03)": 4,
    "import time\nwhile True: time.sleep(0.001)": 3,
    "import asyncio; await asyncio.sleep(60)": 2,
    "import threading, time\n"
    "threading.Thread(target=lambda t: (time.sleep(0.05), print(t, 'late')), args=(token,), daemon=True).start()": 2,
    "import asyncio\nasync def later(t): await asyncio.sleep(0.02); print(t, 'late')\n"
    "task = asyncio.create_task(later(token))": 2,
    "1 / 0": 2,
    "import subprocess; subprocess.run(['echo', token, 'child'])": 1,
    "import os; os.kill(os.getpid(), 9)": 2,
    "import os; os._exit(3)": 1,
    # Deaf to interrupts until it is killed.
    "import ctypes; ctypes.PyDLL(None).sleep(60)": 1,
}
PREAMBLE = """\
import os
token = {token!r}
witness = os.open({witness!r}, os.O_WRONLY | os.O_APPEND)
os.write(witness, b'{token}\\n')
os.close(witness)
found = globals().get('history', ())
print(token, 'begin', os.getpid(), ','.join(found))
history = (*found, token)
{body}
print(token, 'end')
"""


def cell_in_short(cell):
    return " ".join(map(str, [cell["status"], cell["execution_count"], cell["state"], cell["state_detail"], *cell["notices"]]))


def told(done):
    """An answer in short, for the log."""
    return f"{done['id']} {done['status']} {done.get('error') or done.get('before_cell') or ''}"


class Call:
    def __init__(self, client, session, tokens, resets, sent):
        self.client, self.session, self.tokens, self.resets, self.sent = client, session, tokens, resets, sent
        self.text = collections.defaultdict(str)  # by token, as it came
        self.runs = {}  # by token, as the result says


class Clients:
    def __init__(self, connections, witness, seed):
        self.connections = connections  # LineClients
        self.witness = witness
        self.random = random.Random(seed)
        self.frames = [collections.deque() for _ in connections]
        self.moment = 0
        self.models = collections.defaultdict(SessionModel)
        self.calls = {}  # under way, by id
        self.all_calls = []
        self.requests = {}  # under way, by id: what to do with the answer
        self.running = {}  # session -> id of the call that has begun and not ended
        self.workers = {}  # session -> pid and pidfd of the last worker that told it
        self.done_ids = set()
        self.counts = collections.Counter()
        self.log = collections.deque(maxlen=400)  # what was sent and received last, for whoever reads of a violation

    def run(self, seconds):
        end = time.monotonic() + seconds
        operations = {self.evaluate: 12, self.cancel: 4, self.interrupt: 1, self.reset: 1, self.close: 0.5,
                      self.rewind: 1.5, self.branch: 1, self.kill: 1.5}
        while time.monotonic() < end:
            operation, = self.random.choices(list(operations), operations.values())
            operation()
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
            self.send_call(session, [""])
        while self.calls:
            self.read(0.1)
            if time.monotonic() > end:
                raise Violation(f"no last answer: {list(self.calls)}")
        self.check_runs()

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
        self.send_call(self.any_session(), bodies, reset=self.random.random() < 0.05,
                       retry="once" if self.random.random() < 0.3 else "never",
                       timeout=1 if self.random.random() < 0.03 else 30)

    def send_call(self, session, bodies, reset=False, retry="never", timeout=30):
        client, moment = self.home(session), self.next_moment()
        id = f"call{moment}"
        tokens = [f"t{moment}.{i}" for i in range(len(bodies))]
        cells = [{"code": PREAMBLE.format(token=token, witness=self.witness, body=body), "timeout": timeout}
                 for token, body in zip(tokens, bodies)]
        if reset:
            cells[0]["reset"] = True
        call = Call(client, session, tokens, {tokens[0]} if reset else set(), moment)
        self.calls[id] = call
        self.all_calls.append(call)
        self.counts["calls"] += 1
        self.log.append(f"{moment} -> {session} {id} reset={reset} retry={retry} {timeout} s {bodies}")
        self.connections[client].send(id=id, type="eval", session=session, cells=cells, retry=retry)

    def ask(self, type, client=None, then=lambda done: None, **fields):
        """Sends a request that has one answer; some may be refused for good reasons."""
        client = self.any_client() if client is None else client
        id = f"{type}{self.next_moment()}"
        self.requests[id] = then
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

    def reset(self):
        session = self.any_session()
        _, then = self.change("reset", session, lambda: SessionModel.FRESH)
        self.ask("reset", then=then, session=session)

    def close(self):
        session = self.any_session()
        _, then = self.change("close", session, lambda: SessionModel.FRESH)
        self.ask("close", then=then, session=session)

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
        source, session = self.random.choice(SESSIONS), self.random.choice(BRANCHES)
        model = self.models[source]
        stand = [None]
        _, answered = self.change("branch", session, lambda: model.states_ever(stand[0]))
        def then(done):
            stand[0] = done.get("before_cell")
            answered(done)
        self.ask("branch", then=then, session=source, new_session=session)

    def kill(self):
        session = self.any_session()
        if session not in self.workers:
            return
        self.models[session].kills.append(self.next_moment())
        try:
            signal.pidfd_send_signal(self.workers[session][1], signal.SIGKILL)
            self.counts["kill"] += 1
            self.log.append(f"{self.moment} kill of {session}'s worker {self.workers[session][0]}")
        except ProcessLookupError:
            pass  # it has ended

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
            self.requests.pop(id)(frame)
        elif id not in self.calls:
            raise Violation(f"a frame for nobody: {frame}")
        else:
            self.take_of_call(id, self.calls[id], frame)
        if type == "done":
            self.done_ids.add(id)
            self.log.append(f"{self.moment} <- {told(frame)}")

    def take_of_call(self, id, call, frame):
        type = frame["type"]
        if type == "started":
            holder = self.calls.get(self.running.get(call.session), call)
            if holder is not call and not self.models[call.session].closed_since(holder.sent):
                raise Violation(f"{id} began before {self.running[call.session]} had ended")
            self.running[call.session] = id
        elif type == "stdout" and not frame.get("background"):
            call.text[call.tokens[frame["cell"]]] += frame["text"]
        elif type == "finished":
            self.take_cell(call, call.tokens[frame["cell"]], frame)
        elif type == "done":
            self.take_result(call, frame)
            del self.calls[id]
            if self.running.get(call.session) == id:
                del self.running[call.session]

    def take_cell(self, call, token, cell):
        pid, seen = self.check_text(call.text[token], token, cell)
        model = self.models[call.session]
        if cell["state_detail"] == "the session was closed, state lost":
            # Another session of that name may be in use already.
            if not model.closed_since(call.sent):
                raise Violation(f"{token}: nobody closed the session")
        else:
            model.on_cell(Cell(token, call.sent, self.moment + 1, cell, reset=token in call.resets, seen=seen))
        self.next_moment()
        self.log.append(f"{self.moment} <- {call.session} {token} {cell_in_short(cell)} (worker {pid})")
        self.counts[f"{cell['status']}, state {cell['state']}"] += 1
        self.counts["run again"] += cell["runs"] - 1
        if pid:
            self.note_worker(call.session, pid)

    def check_text(self, text, token, cell):
        """The worker's pid and what the cell found; None if it did not come to tell."""
        # An interrupt may have cut a line anywhere.
        foreign = [line for line in re.findall(r"(?m)^(t\d+\.\d) ", text) if line != token]
        if foreign:
            raise Violation(f"output of {foreign} under {token}: {text!r}")
        begun = re.findall(rf"{re.escape(token)} begin (\d+) (.*)\n", text)
        if len(begun) > cell["runs"]:
            raise Violation(f"{token} began {len(begun)} times: {cell}")
        if cell["status"] == "complete" and (not begun or f"{token} end\n" not in text):
            raise Violation(f"{token} is complete without its output: {cell}")
        if not begun:
            return None, None
        pid, found = begun[-1]
        return int(pid), tuple(found.split(",")) if found else ()

    def take_result(self, call, done):
        if done["status"] == "refused":
            return self.check_refusal(call, done)
        result = done["result"]
        for token, cell in zip(call.tokens, result["cells"], strict=True):
            call.runs[token] = cell["runs"]
            if cell["status"] == "not_run" and token in call.resets and result["session"]["state"] == "fresh":
                self.models[call.session].on_reset(call.sent, self.moment + 1)
            text = "".join(output["text"] for output in cell["outputs"] if output["type"] == "stdout")
            if text != call.text[token]:
                raise Violation(f"{token} sent {call.text[token]!r} and its result has {text!r}")
        for output in result["background"]:
            own = [line for line in output.get("text", "").splitlines() if line.split(" ")[0] in call.tokens]
            if any(not line.endswith("late") for line in own):
                raise Violation(f"{call.tokens}: own output as background: {own}")

    def check_refusal(self, call, done):
        error = done["error"]
        self.counts[f"refused, {error['ename']}"] += 1
        for token in call.tokens:
            call.runs[token] = 0
        if error["ename"] == "SessionRefused" and "times in a row" in error["evalue"]:
            return
        if error["ename"] != "Cancelled":
            raise Violation(f"refused: {done}")

    def check_runs(self):
        """A cell is run as often as its result says, and no oftener."""
        with open(self.witness) as witness:
            ran = collections.Counter(witness.read().split())
        for call in self.all_calls:
            for token in call.tokens:
                if ran[token] > call.runs[token]:
                    raise Violation(f"{token} ran {ran[token]} times, and its result says {call.runs[token]}")
