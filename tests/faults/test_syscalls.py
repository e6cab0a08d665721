"""Every call by which host, template and keeper acquire something is made to fail once, in a fixed piece of work: it ends
with success or a clear error, and never with a hang, a crash or something left behind; what comes after it succeeds. Where
reads and writes are short, clocks jump and processes are slow, all of it succeeds.

CELLAR_FAULT_POINTS says how many of the calls are tried, of each kind in turn; "all" for each, but no more than a hundred
of a kind. The draw is another one each time; with the CELLAR_FAULT_SEED that is printed it is made again.
"""
import collections
import itertools
import os
import random
import shutil
import sys
import unittest

from fault_test import FRESH, LISTED, OLD, SCENARIO, FaultTest, run
from program import DEADLINE_S

SHIM = os.environ["CELLAR_FAULT_SHIM"]
WORKER = os.environ["CELLAR_WORKER"]
POINTS = os.environ.get("CELLAR_FAULT_POINTS", "12")
SEED = int(os.environ.get("CELLAR_FAULT_SEED", random.randrange(10**6)))
# Of the calls that are to fail, how many are reached: their number is not the same each time. Who looks for processes opens
# a file for each that the machine has.
REACHED = 0.8
MOST_OF_A_KIND = 100
MOST_KINDS = 32  # as the shim has it


def draw(counts):
    """Pairs of a name and a number up to its count."""
    choice = random.Random(SEED)
    kinds = [[(name, number) for number in choice.sample(range(1, count + 1), min(count, MOST_OF_A_KIND))]
             for name, count in counts.items()]
    choice.shuffle(kinds)
    in_turn = [point for turn in itertools.zip_longest(*kinds) for point in turn if point]
    return in_turn if POINTS == "all" else in_turn[:int(POINTS)]


class Faults(FaultTest):
    def setUp(self):
        super().setUp()
        self.count_file = os.path.join(self.folder, "count")

    def faulty(self, role, **faults):
        """The environment in which the calls of the host, or of the processes below it, are tampered with."""
        variables = {"LD_PRELOAD": SHIM, **{f"CELLAR_FAULT_{name.upper()}": str(value) for name, value in faults.items()}}
        if role == "host":
            # Abseil's ends the program when it gets no memory, and the host has no say in that.
            return {**variables, "CELLAR_FAULT_ALLOCATORS": "0"}
        wrapper = os.path.join(self.folder, "worker")
        with open(wrapper, "w") as file:
            settings = " ".join(f"{name}='{value}'" for name, value in variables.items())
            file.write(f"#!/bin/sh\n{settings} exec '{WORKER}' \"$@\"\n")
        os.chmod(wrapper, 0o700)
        return {"CELLAR_WORKER": wrapper}

    def play_with(self, role, before_each=lambda number: None, **faults):
        with open(self.count_file, "wb") as file:
            file.truncate(16 * MOST_KINDS)
        shutil.rmtree(self.env["PI_ARTIFACTS_DIR"], ignore_errors=True)  # it is made each time, or never
        client = self.serve(env=self.faulty(role, count=self.count_file, **faults))
        try:
            answers = self.play(client, before_each)
            code = self.process.wait(DEADLINE_S)
            return answers, code, self.process.stderr.read().decode()
        finally:
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                stream.close()  # select() knows only so many

    def counted(self):
        """How many calls there were, by the first eight letters of their names."""
        with open(self.count_file, "rb") as file:
            kinds = [(file.read(8).rstrip(b"\0").decode(), int.from_bytes(file.read(8), sys.byteorder))
                     for _ in range(MOST_KINDS)]
        return collections.Counter({name: count for name, count in kinds if count})

    def sweep(self, role):
        answers, code, error = self.play_with(role)
        self.assertEqual((len(answers), code), (len(SCENARIO), 0), error)
        counts = self.counted()
        points = draw(counts)
        print(f"{role}: {len(points)} of {dict(counts)}, CELLAR_FAULT_SEED={SEED}", file=sys.stderr)
        failed = 0
        for name, number in points:
            with self.subTest(f"{name} number {number} of the {role} fails"):
                failed += self.fail_at(role, name, number)
        print(f"{failed} were reached", file=sys.stderr)
        self.assertGreaterEqual(failed, REACHED * len(points))

    def fail_at(self, role, name, number):
        """Whether the scenario got there."""
        def has_failed():
            return self.counted()[name] >= number
        early = []  # whether that was before the last calls
        def before(request):
            if request == FRESH:
                early.append(has_failed())
        answers, code, error = self.play_with(role, before, at=f"{name}:{number}")
        self.assertIn(code, (0, 1, 2, 3), f"{error}\n{answers[-1:]}")
        if len(answers) < len(SCENARIO):
            self.assertNotEqual(code, 0, f"an end without a reason after {answers[-1:]}")
            self.assertNotEqual(error, "")
        self.check_answers(answers, succeed=(FRESH, OLD) if any(early) else ())
        self.check_nothing_is_left()
        return has_failed()

    def test_any_call_of_the_host_may_fail(self):
        self.sweep("host")

    def test_any_call_of_the_processes_below_it_may_fail(self):
        self.sweep("worker")

    def test_reads_and_writes_may_be_short(self):
        for role in ("host", "worker"):
            with self.subTest(role):
                self.check_everything_goes_well(role, short=1)

    def test_the_clock_of_the_system_may_jump(self):
        for role in ("host", "worker"):
            with self.subTest(role):
                answers = self.check_everything_goes_well(role, clock=1)
                for answer in answers:
                    for cell in answer.get("result", {}).get("cells", []):
                        self.assertTrue(0 <= cell["duration_ms"] < 60_000, cell)
                for session in answers[LISTED]["sessions"]:
                    self.assertTrue(0 <= session["idle_s"] < 60, session)

    def test_processes_may_be_slow(self):
        for name in ("cellar-template", "cellar-spare", "cellar-keeper", "cellar-worker", "cellar-snap"):
            with self.subTest(name):
                self.check_everything_goes_well("worker", slow=name)

    def test_the_first_cells_may_do_to_a_slow_keeper_what_they_want(self):
        stops = "import os, signal; os.kill(os.getppid(), signal.SIGSTOP)"
        takes_files = "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))"
        client = self.serve(env=self.faulty("worker", slow="cellar-keeper"))
        for number, request in enumerate([run("s", "x = 1", stops), run("s", "import os; os._exit(3)"),
                                          run("s", stops, "x"), {"type": "branch", "session": "s", "new_session": "t"},
                                          run("t", stops, "x"), {"type": "reset", "session": "s"},
                                          run("s", stops, "6 * 7"), run("u", "x = 1", takes_files), run("u", "x")]):
            client.send(id=number, **request)
            answer = client.done(number)
            self.assertEqual(answer["status"], "error" if number == 1 else "ok", answer)
        client.out.close()
        self.assertEqual(self.process.wait(DEADLINE_S), 0)
        self.check_nothing_is_left()

    def check_everything_goes_well(self, role, **faults):
        answers, code, error = self.play_with(role, **faults)
        self.assertEqual((code, error), (0, ""))
        self.check_everything_went_well(answers)
        return answers


if __name__ == "__main__":
    unittest.main()
