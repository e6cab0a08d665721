"""What becomes of output: how long much of it takes, what is lost when nobody reads, and the memory that it takes."""
import sys
import time

from compare_options import KERNEL_EVERY, PROGRAM, scaled
from compare_sessions import run_quietly, timed
from compare_sides import Cellar, Kernel, peak
from compare_table import MIB, NONE, Count, Row, at_most, at_most_of_python

LINES = 20_000
RESULT_CAP = 50 << 10  # how much of it a result has


def prints(cellar, kernel):
    row = Row("200,000 × `print(i)` (python: piped to cat)", at_most_of_python(1.5))
    code = "for i in range(200_000): print(i)"
    for i in range(scaled(20)):
        row.add("cellar", timed(cellar.run, code))
        row.add("python", timed(run_quietly, "sh", "-c", f"{sys.executable} -c '{code}' | cat"))
        if i % KERNEL_EVERY == 0:
            row.add("ipykernel", timed(kernel.run, code))
    return row


def stall(cellar, kernel):
    """The readers of both sides stall at the same time."""
    lost = Count(f"reader stalls {scaled(6)} s during {LINES:,} lines: lines lost", NONE)
    for _ in range(scaled(2)):
        numbers = {side: side.begin(f"for i in range({LINES}): print(i, flush=True)") for side in (cellar, kernel)}
        time.sleep(scaled(6))
        for side, number in numbers.items():
            lost.add(side.name, LINES - side.text_of(number).count("\n"), LINES)
    return lost


def big_print():
    row = Row("one 256 MiB print: growth of the host or kernel", at_most(RESULT_CAP + 16 * MIB, "B"), unit="B")
    code = f"print('x' * {scaled(256, 1) * MIB})"
    for _ in range(scaled(2)):
        cellar = Cellar(PROGRAM)
        cellar.run("1")
        before = peak(cellar.process.pid)
        cellar.run(code, stream=False)
        row.add("cellar", peak(cellar.process.pid) - before)
        cellar.close()
        kernel = Kernel()
        kernel.run("1")
        before = peak(kernel.worker())
        kernel.end(kernel.begin(code))
        row.add("ipykernel", peak(kernel.worker()) - before)
        kernel.close()
    return row
