"""How long cells take: one after the other, and many at once."""
import os
import subprocess
import time

from compare_options import PROGRAM, QUICK, scaled
from compare_sessions import timed
from compare_sides import Cellar, Kernel, Plain, peak
from compare_table import ALL, MIB, NEVER, Count, Row, at_most, less_than_ipykernel

SILENCE_S = 10  # after it, no more replies are going to come


def cells(cellar, kernel):
    row = Row("a cell `x = i`, waited for")
    library = Row("  by the blocking call of the C++ library", at_most(100e-6), less_than_ipykernel(50))
    plain = Plain()
    plain.run("0")
    for _ in range(scaled(10)):
        for side, count in ((cellar, 100), (kernel, 20), (plain, 100)):
            for i in range(count):
                row.add(side.name, timed(side.run, f"x = {i}"))
    plain.close()
    measured = session_bench()
    library.add("cellar", measured["cell/median"])
    library.tails["cellar"] = measured["cell/p99"]
    library.samples.update({side: row.samples[side] for side in ("ipykernel", "python")})
    return [row, library]


def session_bench():
    """Its numbers, by name."""
    lines = subprocess.run([os.path.join(os.path.dirname(PROGRAM), "session_bench"), "--cells", *(["--quick"] if QUICK else [])],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    return {name: float(value) for name, value, _ in map(str.split, lines.splitlines())}


def queued():
    ours, theirs = scaled(10_000, 50), scaled(2_000, 50)
    in_order = Count(f"{ours:,} cells sent at once (ipykernel: {theirs:,}): results that came, in order", ALL)
    each = Row("  time for each of them (python: lines on a pipe)")
    memory = Row("  growth of the host or kernel", at_most(16 * MIB, "B"), unit="B")
    for _ in range(scaled(2)):
        for side, count in ((Cellar(PROGRAM), ours), (Kernel(), theirs)):
            side.run("1")
            pid = side.process.pid if side.name == "cellar" else side.worker()
            before = peak(pid)
            came, seconds = run_at_once(side, count)
            in_order.add(side.name, came, count)
            each.add(side.name, seconds / came if came else NEVER)
            memory.add(side.name, peak(pid) - before)
            side.close()
        plain = Plain()
        plain.run("0")
        each.add("python", timed(plain.run, "\n".join(f"x = {i}" for i in range(ours))) / ours)
        plain.close()
    return [in_order, each, memory]


def run_at_once(side, count):
    """How many results have come after those of all cells before them, and when the last of them came."""
    options = {"stream": False} if side.name == "cellar" else {}
    start = time.perf_counter()
    places = {side.begin(f"x = {i}", **options): i for i in range(count)}
    came, last, seconds = 0, -1, 0
    for _ in range(count):
        if not (answer := side.next_reply(SILENCE_S)):
            break
        number, reply = answer
        if side.is_fine(reply) and places[number] > last:
            came, last, seconds = came + 1, places[number], time.perf_counter() - start
    return came, seconds
