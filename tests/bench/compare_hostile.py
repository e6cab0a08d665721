#!/usr/bin/env python3
"""Runs the hostile cells on cellar and on ipykernel, each in a session or kernel of its own; counts what becomes of them.
usage: compare_hostile.py CELLAR [--quick] [--markdown]"""
import os
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))
from cell_files import read_cell_files, read_json_cells
from compare_options import MARKDOWN, PROGRAM, QUICK
from compare_sides import Cellar, Kernel, descendants, kill
from compare_table import print_table
from lanes import run_in_lanes

LANES = 6  # most of the time they wait
PATIENCE_S = 10  # for the reply after an interrupt, and for that to a cell that takes no time
SHORTEST_S = 1  # the shortest time-out that `cellar serve` takes
END_S = 2  # for processes to be gone after the close
OWN_OF_CELLAR = {"cellar", "cellar-template", "cellar-spare"}  # these belong to no session
STALL_S = 90  # a client that takes longer than its cell and this has been stopped by it

SIDES = ("cellar", "ipykernel")
SOUND = "answered in time, usable afterwards"
LOST = "- of these without the variables, and it says so"
SILENT = "no answer"
DIED = "died without an answer"
BROKEN = "answered, broken afterwards"
LEFT = "processes left after the close"
STUCK = "the close has not ended"


class OnCellar:
    """A session of `cellar serve`."""

    def __init__(self):
        self.side = Cellar(PROGRAM)

    def run(self, code, timeout_s=PATIENCE_S, killed_after=None):
        """What became of it, and how."""
        try:
            number = self.side.send("eval", session="s", cells=[{"code": code, "timeout": timeout_s}], stream=False)
            if killed_after:
                time.sleep(killed_after)
                kill(self.side.worker())
            done = self.side.end(number, timeout_s + PATIENCE_S)
        except (OSError, RuntimeError) as error:
            return DIED, str(error)
        if done is None:
            return SILENT, f"for {PATIENCE_S} s after the time-out"
        if done["status"] == "refused":
            return SILENT, done["error"]["evalue"]
        self.cell = done["result"]["cells"][0]
        return SOUND, (self.cell["error"] or {}).get("ename", "")

    def shown(self):
        """The value that the last cell has shown."""
        results = (output["data"] for output in self.cell["outputs"] if output["type"] == "result")
        return next((data.get("text/plain") for data in results), None)

    def says_lost(self):
        """Whether the last result says that the variables are gone."""
        return self.cell["state"] in ("lost", "fresh")

    def close(self):
        """Ends the session, and later the host; returns what the session has left."""
        number = self.side.send("close", session="s")
        self.side.receive(lambda frame: frame.get("id") == number)
        left = names_left(OWN_OF_CELLAR)
        self.side.close()
        return left


class OnKernel:
    """A kernel, on behalf of one who types nothing in."""

    def __init__(self):
        os.environ["IPYTHONDIR"] = tempfile.mkdtemp()  # kernels that share one wait for each other
        self.side = Kernel()

    def run(self, code, timeout_s=PATIENCE_S, killed_after=None):
        # Otherwise an error may take the next cell with it, though that was sent after the reply.
        self.number = self.side.client.execute(code, stop_on_error=False, allow_stdin=False)
        if killed_after:
            time.sleep(killed_after)
            kill(self.side.worker())
        reply = self.reply(timeout_s)
        if not reply and self.status() is None:
            self.side.interrupt()
            reply = self.reply(PATIENCE_S)
        if reply:
            return SOUND, reply["content"].get("ename", "")
        if self.status() is None:
            return SILENT, f"for {PATIENCE_S} s after the interrupt"
        return DIED, ending(self.status())

    def reply(self, limit_s):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            has_ended = self.status() is not None
            reply = self.side.end(self.number, 0.2)
            if reply or has_ended:
                return reply
        return None

    def status(self):
        """Nothing while the kernel lives."""
        return self.side.manager.provisioner.process.poll()

    def shown(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            try:
                message = self.side.client.get_iopub_msg(timeout=0.2)
            except Exception:  # queue.Empty
                continue
            if message["parent_header"].get("msg_id") != self.number:
                continue
            if message["msg_type"] == "execute_result":
                return message["content"]["data"].get("text/plain")
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return None
        return None

    def says_lost(self):
        return False

    def close(self):
        self.side.close()
        return names_left()


def ending(status):
    return f"exited with code {status}" if status >= 0 else signal.Signals(-status).name


def names_left(expected=frozenset()):
    """Names of the processes in this lane, some time after an end, but for those expected."""
    end = time.monotonic() + END_S
    while True:
        names = [name for name in map(name_of, descendants(os.getpid())[1:]) if name and name not in expected]
        if not names or time.monotonic() > end:
            return names
        time.sleep(0.05)


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except OSError:
        return None


def examine(job):
    side, cell = job
    guest = OnCellar() if side == "cellar" else OnKernel()
    guest.run("survivor = 4711")
    outcome, how = guest.run(cell.code, max(SHORTEST_S, cell.timeout), cell.killed_after)
    says_lost = outcome == SOUND and guest.says_lost()
    if outcome == SOUND:
        outcome, how = look_after(guest, has_names=not says_lost and not cell.forgets_names)
    yield {"outcome": outcome, "how": how, "says_lost": says_lost}
    yield {"left": guest.close()}


def look_after(guest, has_names):
    probes = {"1+1": "2", "survivor": "4711"} if has_names else {"1+1": "2"}
    for code, value in probes.items():
        outcome, how = guest.run(code)
        if outcome != SOUND:
            return BROKEN, f"`{code}`: {outcome}, {how}"
        if guest.shown() != value:
            return BROKEN, f"`{code}`: {how or 'shows nothing'}"
    return SOUND, ""


def read_cells():
    cells = read_cell_files()
    if directory := os.environ.get("CELLAR_FAULTS_DIR"):
        cells += read_json_cells(os.path.join(directory, "cells.jsonl"))
    return cells[::20] if QUICK else cells


def judge(known):
    """What became of a cell, each thing with how."""
    outcome, how = known.get("outcome"), known.get("how")
    if outcome is None and known.get("stalled"):
        return {SILENT: "its client was stopped too"}
    if outcome is None:
        return {DIED: known.get("error", "its client died too")}
    verdict = {outcome: how}
    if outcome == SOUND and known["says_lost"]:
        verdict[LOST] = ""
    if "left" not in known:
        verdict[STUCK] = known.get("error", "")
    elif known["left"]:
        verdict[LEFT] = ", ".join(known["left"])
    return verdict


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cells = read_cells()
    jobs = [(side, cell) for cell in cells for side in SIDES]
    verdicts = {side: {} for side in SIDES}
    for (side, cell), known in run_in_lanes(jobs, examine, lambda job: job[1].timeout + STALL_S, LANES):
        verdicts[side][cell.name] = judge(known)
        if sys.stderr.isatty():
            print(f"\r{sum(map(len, verdicts.values()))} of {len(jobs)}", end="\r", file=sys.stderr, flush=True)
    print(f"{len(cells)} cells\n")
    print_table([["what", *SIDES]] + [
        [what, *(str(sum(what in verdict for verdict in verdicts[side].values())) for side in SIDES)]
        for what in (SOUND, LOST, SILENT, DIED, BROKEN, LEFT, STUCK)], MARKDOWN)
    failures = [[cell.name, side, what, how] for side in SIDES for cell in cells
                for what, how in verdicts[side][cell.name].items() if what not in (SOUND, LOST)]
    print()
    print_table([["cell", "side", "what", "how"], *failures], MARKDOWN)
    return 1 if any(side == "cellar" for _, side, _, _ in failures) else 0


if __name__ == "__main__":
    sys.exit(main())
