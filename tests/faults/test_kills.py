"""Processes of a working server are killed and stopped at random moments: each request is answered once all the same, what
is said is true, and nothing is left. CELLAR_FAULT_SEED repeats the moments, CELLAR_KILLS says how many per kind of process."""
import contextlib
import os
import random
import signal
import sys
import threading
import unittest

from fault_test import SCENARIO, FaultTest
from program import DEADLINE_S, processes_marked, wait_until

KILLS = int(os.environ.get("CELLAR_KILLS", "3"))
MOST_KILLS = KILLS + 20  # the first ones may come when nobody is there to be hit
SEED = int(os.environ.get("CELLAR_FAULT_SEED", random.randrange(1 << 32)))
NAMES = {"template": "cellar-template", "keeper": "cellar-keeper", "worker": "cellar-worker", "snapshot": "cellar-snap"}


class Aim:
    """Sends a signal to a process of that name as soon as there is one after a moment has passed; a pidfd makes sure that
    it is the one that was found."""

    def __init__(self, mark, name, number, delay):
        self.mark, self.name, self.number, self.delay = mark, name, number, delay
        self.hit = False
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        self.over.wait(self.delay)
        while not self.hit and not self.over.wait(0.002):
            for pid in processes_marked(self.mark):
                if self.try_hit(pid):
                    break

    def try_hit(self, pid):
        try:
            process = os.pidfd_open(pid)
        except OSError:
            return False
        try:
            with open(f"/proc/{pid}/comm") as comm:
                if comm.read().strip() != self.name:
                    return False
            signal.pidfd_send_signal(process, self.number)
            self.hit = True
        except OSError:
            pass
        finally:
            os.close(process)
        return self.hit

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Kills(FaultTest):
    def hit_each(self, number, roles):
        moments = random.Random(SEED)
        print(f"CELLAR_FAULT_SEED={SEED}", file=sys.stderr)
        for role in roles:
            hits = 0
            for attempt in range(MOST_KILLS):
                if attempt >= KILLS and hits:
                    break
                delay = moments.uniform(0, 0.3)
                with self.subTest(f"{role}, {delay:.3f} s"):
                    client = self.serve()
                    aim = Aim(self.mark, NAMES[role], number, delay)
                    with contextlib.ExitStack() as stack:
                        # Not before the server has begun: a template that never starts is another matter.
                        answers = self.play(client, before_each=lambda n: n or stack.enter_context(aim))
                    hits += aim.hit
                    self.assertEqual(len(answers), len(SCENARIO))
                    self.check_answers(answers)
                    self.assertEqual(self.process.wait(DEADLINE_S), 0)
                    self.assertEqual(self.process.stderr.read().decode(), "")
                    self.check_nothing_is_left()
            self.assertGreater(hits, 0, f"no {role} was there to be hit")

    def test_killed_processes_are_told_of_and_replaced(self):
        self.hit_each(signal.SIGKILL, ("template", "keeper", "worker", "snapshot"))

    def test_stopped_processes_hold_up_nothing_for_ever(self):
        self.hit_each(signal.SIGSTOP, ("template", "keeper", "worker", "snapshot"))

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
        client = self.serve()
        def stop(number):
            self.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: stopped(self.process.pid), "the host stopped")
            self.process.send_signal(signal.SIGCONT)
        self.assertEqual(len(self.play(client, before_each=stop)), len(SCENARIO))


def stopped(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


if __name__ == "__main__":
    unittest.main()
