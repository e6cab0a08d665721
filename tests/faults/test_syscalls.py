"""Every call by which host, template and keeper acquire something is made to fail once, in a fixed piece of work: it ends
with success or a clear error, and never with a hang, a crash or something left behind.

CELLAR_FAULT_POINTS says how many of the calls are tried; "all" for each. The draw is another one each time; with the
CELLAR_FAULT_SEED that is printed it is made again.
"""
import os
import random
import sys
import unittest

from fault_test import SCENARIO, FaultTest
from program import DEADLINE_S, wait_until, processes_marked

SHIM = os.environ["CELLAR_FAULT_SHIM"]
WORKER = os.environ["CELLAR_WORKER"]
POINTS = os.environ.get("CELLAR_FAULT_POINTS", "12")
SEED = int(os.environ.get("CELLAR_FAULT_SEED", random.randrange(10**6)))


class Faults(FaultTest):
    def setUp(self):
        super().setUp()
        self.count_file = os.path.join(self.folder, "count")
        with open(self.count_file, "wb") as file:
            file.write(bytes(64))

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

    def play_with(self, role, **faults):
        client = self.serve(env=self.faulty(role, count=self.count_file, **faults))
        try:
            answers = self.play(client)
            code = self.process.wait(DEADLINE_S)
            return answers, code, self.process.stderr.read().decode()
        finally:
            for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
                stream.close()  # select() knows only so many

    def counted(self):
        """How many calls there were, and the name of the one that failed."""
        with open(self.count_file, "rb") as file:
            return int.from_bytes(file.read(8), sys.byteorder), file.read().rstrip(b"\0").decode()

    def sweep(self, role):
        answers, code, error = self.play_with(role)
        self.assertEqual((len(answers), code), (len(SCENARIO), 0), error)
        total, _ = self.counted()
        self.assertGreater(total, 50)
        numbers = range(1, total + 1)
        if POINTS != "all":
            numbers = sorted(random.Random(SEED).sample(numbers, min(total, int(POINTS))))
        print(f"{role}: {len(numbers)} of {total} calls, CELLAR_FAULT_SEED={SEED}", file=sys.stderr)
        for number in numbers:
            with self.subTest(f"call {number} of the {role} fails"):
                try:
                    answers, code, error = self.play_with(role, at=number)
                except AssertionError as problem:
                    self.process.kill()
                    self.fail(f"{self.counted()[1]}: {problem}")
                self.assertIn(code, (0, 1, 2, 3), f"{error}\n{answers[-1:]}")
                if len(answers) < len(SCENARIO):
                    self.assertNotEqual(code, 0, f"an end without a reason after {answers[-1:]}")
                    self.assertNotEqual(error, "")
                self.check_answers(answers)
                wait_until(lambda: not processes_marked(self.mark), f"every process gone; {error}", 2)

    def test_any_call_of_the_host_may_fail(self):
        self.sweep("host")

    def test_any_call_of_the_processes_below_it_may_fail(self):
        self.sweep("worker")

    def test_reads_and_writes_may_be_short(self):
        for role in ("host", "worker"):
            with self.subTest(role):
                answers, code, error = self.play_with(role, short=1)
                self.assertEqual((len(answers), code, error), (len(SCENARIO), 0, ""))
                self.check_everything_went_well(answers)

    def test_the_clock_of_the_system_may_jump(self):
        answers, code, error = self.play_with("host", clock=1)
        self.assertEqual((len(answers), code, error), (len(SCENARIO), 0, ""))
        self.check_everything_went_well(answers)
        for answer in answers:
            for cell in answer.get("result", {}).get("cells", []):
                self.assertTrue(0 <= cell["duration_ms"] < 60_000, cell)
        for session in answers[8]["sessions"]:
            self.assertTrue(0 <= session["idle_s"] < 60, session)

    def check_everything_went_well(self, answers):
        self.check_answers(answers)
        self.assertEqual([answer["status"] for answer in answers],
                         ["ok", "ok", "ok", "ok", "error", "ok", "cancelled", "ok", "ok", "ok", "ok", "ok"])


if __name__ == "__main__":
    unittest.main()
