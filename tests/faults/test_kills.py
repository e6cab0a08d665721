"""Processes of a working server are killed and stopped at random moments: each request is answered once all the same, what
is said is true, the next calls succeed, and nothing is left. CELLAR_FAULT_SEED repeats the moments, CELLAR_KILLS says how
many per kind of process."""
import contextlib
import os
import random
import select
import signal
import sys
import threading
import unittest

from fault_test import FRESH, OLD, SCENARIO, FaultTest
from program import DEADLINE_S, SLOWNESS, processes_of, state_and_parent, wait_until

KILLS = int(os.environ.get("CELLAR_KILLS", "3"))
MOST_KILLS = KILLS + 20  # the first ones may come when nobody is there to be hit
SEED = int(os.environ.get("CELLAR_FAULT_SEED", random.randrange(1 << 32)))
# The names of a process and of those above it.
TEMPLATE, KEEPER, WORKER, SNAPSHOT = "cellar-template", "cellar-keeper", "cellar-worker", "cellar-snap"
ROLES = {"template": [TEMPLATE], "keeper": [KEEPER, TEMPLATE], "worker": [WORKER, KEEPER, TEMPLATE],
         "snapshot": [SNAPSHOT], "keeper of a branch": [KEEPER, KEEPER], "worker of a branch": [WORKER, KEEPER, KEEPER]}


def has_role(pid, names):
    for name in names:
        with open(f"/proc/{pid}/comm") as comm:
            if comm.read().strip() != name:
                return False
        pid = state_and_parent(pid)[1]
    return True


def is_dead(pidfd):
    return bool(select.select([pidfd], [], [], 0)[0])


def is_pending(pid, number):
    with open(f"/proc/{pid}/status") as status:
        pending = next(line for line in status if line.startswith("ShdPnd:"))
    return bool(int(pending.split()[1], 16) >> (number - 1) & 1)


class Aim:
    """Sends a signal to a process of that role as soon as there is one after a moment has passed; a pidfd makes sure that
    it is the one that was found."""

    def __init__(self, mark, role, number, delay):
        self.mark, self.names, self.number, self.delay = mark, ROLES[role], number, delay
        self.target = None  # pid and pidfd of the one that was hit
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.over.wait(self.delay)
        while not self.target and not self.over.wait(0.002):
            self.try_hit()

    def try_hit(self):
        for pid in processes_of(self.mark):
            with contextlib.suppress(OSError):
                process = os.pidfd_open(pid)
                try:
                    if has_role(pid, self.names):
                        signal.pidfd_send_signal(process, self.number)
                        self.target = pid, process
                        return
                finally:
                    if not self.target:
                        os.close(process)

    def settle(self):
        """Now or never: hits if it has not yet, and waits until the signal has done its work."""
        self.over.set()
        self.thread.join()
        if not self.target:
            self.try_hit()
        if self.target:
            wait_until(self.has_worked, "what was hit is dead or stopped")

    def has_worked(self):
        pid, process = self.target
        try:
            # What is stopped may have been let go on by now.
            return is_dead(process) or (self.number == signal.SIGSTOP and not is_pending(pid, signal.SIGSTOP))
        except OSError:
            return True  # it has died in between

    def let_go_on(self):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.target[1], signal.SIGCONT)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        if self.target:
            os.close(self.target[1])


class Kills(FaultTest):
    def hit_each(self, number, roles):
        moments = random.Random(SEED)
        print(f"CELLAR_FAULT_SEED={SEED}", file=sys.stderr)
        for role in roles:
            hits = 0
            for attempt in range(MOST_KILLS):
                if attempt >= KILLS and hits:
                    break
                request, delay = moments.randrange(FRESH), moments.uniform(0, 0.02)
                with self.subTest(f"{role}, {delay:.3f} s after request {request}"):
                    hits += self.hit(number, role, request, delay)
            print(f"{number.name} of the {role}: {hits} hits", file=sys.stderr)
            self.assertGreater(hits, 0, f"no {role} was there to be hit")

    def hit(self, number, role, moment, delay):
        """Whether there was one to be hit that long after that request."""
        aim = Aim(self.mark, role, number, delay)
        with contextlib.ExitStack() as stack:
            def before(request):
                if request == moment:
                    stack.enter_context(aim)
                elif request == FRESH:
                    aim.settle()
                    if role == "template" and aim.target:
                        aim.let_go_on()  # new workers wait for one that is stopped
            answers = self.play(self.serve(), before)
        self.assertEqual(len(answers), len(SCENARIO))
        # The old session has a stopped worker, until its cell has run out of time.
        self.check_answers(answers, succeed=(FRESH,) if number == signal.SIGSTOP and role == "worker" else (FRESH, OLD))
        self.assertEqual(self.process.wait(DEADLINE_S), 0)
        self.assertEqual(self.process.stderr.read().decode(), "")
        self.check_nothing_is_left()
        return bool(aim.target)

    def test_killed_processes_are_told_of_and_replaced(self):
        self.hit_each(signal.SIGKILL, ROLES)

    def test_stopped_processes_hold_up_nothing_for_ever(self):
        self.hit_each(signal.SIGSTOP, [role for role in ROLES if role != "worker of a branch"])

    def test_a_killed_keeper_of_a_branch_takes_that_branch_along_and_no_more(self):
        client = self.serve()
        client.next_frame(type="hello")
        client.eval("import os, subprocess; x = 1", session="s")
        self.assertEqual(client.ask("branch", session="s", new_session="t")["status"], "ok")
        child = int(client.value("subprocess.Popen(['env', '-i', 'sleep', '1000']).pid", session="t"))
        keeper = int(client.value("os.getppid()", session="t"))
        self.assertTrue({child, keeper} <= set(processes_of(self.mark)))
        os.kill(keeper, signal.SIGKILL)
        wait_until(lambda: not {child, keeper} & set(processes_of(self.mark)), "the branch gone", 2 * SLOWNESS)
        self.assertEqual(client.value("x", session="s"), "1")
        done = client.eval("'x' in globals()", session="t")
        self.assertEqual(done["result"]["cells"][0]["outputs"][0]["data"]["text/plain"], "False")
        self.assertEqual(done["result"]["session"]["state"], "fresh")
        client.out.close()
        self.assertEqual(self.process.wait(DEADLINE_S), 0)

    def test_a_killed_host_leaves_nothing(self):
        moments = random.Random(SEED)
        for attempt in range(KILLS):
            client = self.serve()
            killer = threading.Timer(moments.uniform(0, 0.6), self.process.kill)
            killer.start()
            self.play(client)
            killer.join()
            self.process.wait(DEADLINE_S)
            self.check_nothing_is_left()

    def test_a_stopped_host_goes_on_where_it_was(self):
        def stop(number):
            self.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: state_and_parent(self.process.pid)[0] == "T", "the host stopped")
            self.process.send_signal(signal.SIGCONT)
        self.check_everything_went_well(self.play(self.serve(), before_each=stop))
        self.assertEqual(self.process.wait(DEADLINE_S), 0)
        self.assertEqual(self.process.stderr.read().decode(), "")


if __name__ == "__main__":
    unittest.main()
