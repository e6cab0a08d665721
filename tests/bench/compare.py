#!/usr/bin/env python3
"""Measures cellar next to ipykernel and plain python. usage: compare.py CELLAR [--quick] [--markdown]"""
import os
import random
import signal
import statistics
import subprocess
import sys
import time

from compare_sides import LIMIT_S, Cellar, Kernel, Plain, descendants, peak, proportional
from compare_table import print_table

PROGRAM = os.path.abspath(sys.argv[1])
QUICK = "--quick" in sys.argv
MARKDOWN = "--markdown" in sys.argv
MIB = 1 << 20
# Started by one who is then killed, in a cell that holds the interpreter in C code. It says by a file that it is there:
# ipykernel sends what it prints from a thread, which the cell keeps from running.
ORPHANS = """
import os, sys, time
_, sides, name, program, sign = sys.argv
sys.path.insert(0, sides)
from compare_sides import Cellar, Kernel
side = Kernel() if name == "ipykernel" else Cellar(program)
side.begin(f"import ctypes; open({sign!r}, 'w').close(); ctypes.PyDLL(None).sleep(600)")
while not os.path.exists(sign):
    time.sleep(0.01)
print("ready", flush=True)
time.sleep(600)
"""


def times(full, quick=1):
    return range(quick if QUICK else full)


def timed(action, *args):
    start = time.perf_counter()
    action(*args)
    return time.perf_counter() - start


def run_quietly(command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


class Row:
    """Numbers of one kind, by side. The ratio is that of the medians, ipykernel's to cellar's."""

    def __init__(self, title, unit="s"):
        self.title, self.unit = title, unit
        self.samples = {"cellar": [], "ipykernel": [], "python": []}

    def add(self, side, value):
        self.samples[side].append(value)

    def median(self, side):
        return statistics.median(self.samples[side]) if self.samples[side] else None

    def cells(self):
        shown = []
        for side in ("cellar", "ipykernel", "python"):
            values = sorted(self.samples[side])
            text = show(self.median(side), self.unit)
            if self.unit == "s" and len(values) >= 20:
                text += f" (p99 {show(values[int(len(values) * 0.99)], 's')})"
            shown.append(text)
        mine, theirs = self.median("cellar"), self.median("ipykernel")
        comparable = mine and theirs and theirs != float("inf") and self.unit != "count"
        ratio = f"{theirs / mine:.3g}" if comparable else ""
        return [self.title, *shown, ratio]


def show(value, unit):
    if value is None:
        return ""
    if value == float("inf"):
        return "never"
    if unit == "s":
        return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"
    if unit == "B":
        return f"{value / MIB:.3g} MiB"
    return f"{value:,.0f}"


def cold_start():
    row = Row("process start to first `1+1` (python: `import asyncio, json`)")
    for _ in times(9):
        row.add("cellar", timed(run_quietly, [PROGRAM, "eval", "1+1"]))
        row.add("python", timed(run_quietly, [sys.executable, "-c", "import asyncio, json"]))
        start = time.perf_counter()
        kernel = Kernel()
        kernel.run("1+1")
        row.add("ipykernel", time.perf_counter() - start)
        kernel.close()
    return row


def sessions(cellar):
    row = Row("one more session, to its first result")
    for i in times(9):
        row.add("cellar", timed(cellar.run, "1+1", f"new {i}"))
        kernels = []
        row.add("ipykernel", timed(lambda: (kernels.append(Kernel()), kernels[0].run("1+1"))))
        kernels[0].close()
    return row


def respawn(cellar, kernel):
    row = Row("worker killed -9, to the next result")
    for _ in times(9):
        cellar.run("1")
        os.kill(cellar.worker(), signal.SIGKILL)
        row.add("cellar", timed(cellar.run, "1+1"))
        os.kill(kernel.worker(), signal.SIGKILL)
        row.add("ipykernel", timed(lambda: (kernel.restart(), kernel.run("1+1"))))
    return row


def cells(cellar, kernel):
    row = Row("a cell `x = i`, waited for")
    plain = Plain()
    plain.run("0")
    for _ in times(10):
        for side, name, count in ((cellar, "cellar", 100), (kernel, "ipykernel", 20), (plain, "python", 100)):
            for i in range(count):
                row.add(name, timed(side.run, f"x = {i}"))
    plain.close()
    library = Row("  the same by the C++ library's blocking call")
    lines = subprocess.run([os.path.join(os.path.dirname(PROGRAM), "session_bench"), "--cells", *(["--quick"] if QUICK else [])],
                           stdout=subprocess.PIPE, text=True, check=True).stdout
    library.add("cellar", next(float(line.split()[1]) for line in lines.splitlines() if line.startswith("cell/median ")))
    library.samples["ipykernel"] = row.samples["ipykernel"]
    return [row, library]


def prints(cellar, kernel):
    row = Row("200,000 x `print(i)` (python: piped to cat)")
    code = "for i in range(200_000): print(i)"
    for _ in times(3):
        row.add("cellar", timed(cellar.run, code))
        row.add("ipykernel", timed(kernel.run, code))
        row.add("python", timed(run_quietly, ["sh", "-c", f"{sys.executable} -c '{code}' | cat"]))
    return row


def memory(cellar):
    row = Row("memory of one more idle session (PSS)", "B")
    before = proportional(cellar.session_processes())
    count = 2 if QUICK else 10
    for i in range(count):
        cellar.run("1", f"idle {i}")
    time.sleep(0.5)  # the snapshot of an idle session is part of it
    row.add("cellar", (proportional(cellar.session_processes()) - before) / count)
    kernel = Kernel()
    kernel.run("1")
    row.add("ipykernel", proportional(descendants(kernel.worker())))
    kernel.close()
    plain = Plain()
    plain.run("1")
    row.add("python", proportional([plain.process.pid]))
    plain.close()
    return row


def interrupts(cellar, kernel):
    rows = []
    for title, code in (("busy loop", "while True: pass"), ("`time.sleep`", "time.sleep(600)"),
                        ("top-level await", "await asyncio.sleep(600)")):
        row = Row(f"interrupt to reply, {title}")
        rows.append(row)
        for i in times(20, 2):
            for side, name in ((cellar, "cellar"), (kernel, "ipykernel")):
                if name == "ipykernel" and float("inf") in row.samples[name]:
                    continue
                number = side.begin(f"import asyncio, time; print('ready', flush=True)\n{code}")
                side.wait_for_text("ready")
                time.sleep(0.01)
                start = time.perf_counter()
                side.interrupt()
                reply = side.end(number, 5)
                row.add(name, time.perf_counter() - start if reply else float("inf"))
                if not reply:
                    kernel.restart()
    return rows


def moments(cellar, kernel):
    lost = Row("interrupts 0-10 ms into a cell of 5 ms: replies lost of 200", "count")
    chance = random.Random(1)
    count = 10 if QUICK else 200
    for side, name in ((cellar, "cellar"), (kernel, "ipykernel")):
        side.run("import time")
        missing = 0
        for _ in range(count):
            number = side.begin("time.sleep(0.005)")
            time.sleep(chance.uniform(0, 0.01))
            side.interrupt()
            if side.end(number, 3) is None:
                missing += 1
        lost.add(name, missing)
    return lost


def stall(cellar, kernel):
    lost = Row("reader stalls 6 s during 20,000 lines: lines lost", "count")
    code = "for i in range(20_000): print(i, flush=True)"
    pause = 1 if QUICK else 6
    number = cellar.begin(code)
    time.sleep(pause)
    lines = []
    def last(frame):
        if frame["type"] == "stdout" and frame["id"] == number:
            lines.append(frame["text"])
        return frame.get("id") == number and frame["type"] == "done"
    cellar.receive(last)
    lost.add("cellar", 20_000 - "".join(lines).count("\n"))
    number = kernel.begin(code)
    time.sleep(pause)
    lost.add("ipykernel", 20_000 - kernel.text_of(number, 10).count("\n"))
    kernel.end(number)
    return lost


def big_print():
    row = Row("one 256 MiB print: peak of host or kernel", "B")
    size = MIB if QUICK else 256 * MIB
    cellar = Cellar(PROGRAM)
    cellar.run("1")
    before = peak(cellar.process.pid)
    cellar.run(f"print('x' * {size})", stream=False)
    row.add("cellar", peak(cellar.process.pid) - before)
    cellar.close()
    kernel = Kernel()
    kernel.run("1")
    before = peak(kernel.worker())
    number = kernel.begin(f"print('x' * {size})")
    kernel.end(number)
    row.add("ipykernel", peak(kernel.worker()) - before)
    kernel.close()
    return row


def orphans():
    row = Row("processes left 0.5 s after the host was killed -9", "count")
    for name in ("cellar", "ipykernel"):
        sign = os.path.abspath(f"{name}-runs")
        starter = subprocess.Popen([sys.executable, "-c", ORPHANS, os.path.dirname(os.path.abspath(__file__)), name, PROGRAM,
                                    sign], stdout=subprocess.PIPE)
        if not starter.stdout.readline():
            sys.exit(f"compare: the cell of {name} that is to be left alone has not started")
        below = descendants(starter.pid)[1:]
        # The host of a kernel is the program that holds its client; that of cellar's workers is `cellar serve`.
        os.kill(below[0] if name == "cellar" else starter.pid, signal.SIGKILL)
        time.sleep(0.5)
        left = [pid for pid in below if os.path.exists(f"/proc/{pid}") and proportional([pid])]
        row.add(name, len(left))
        starter.kill()
        starter.wait()
        starter.stdout.close()
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    return row


def queued(cellar, kernel):
    results = Row("1,000 cells sent at once: results that came", "count")
    rate = Row("  cells a second", "count")
    count = 50 if QUICK else 1000
    for side, name in ((cellar, "cellar"), (kernel, "ipykernel")):
        start = time.perf_counter()
        options = {"stream": False} if name == "cellar" else {}
        numbers = [side.begin(f"x = {i}", **options) for i in range(count)]
        came = sum(side.end(number, 10) is not None for number in numbers)
        results.add(name, came)
        rate.add(name, came / (time.perf_counter() - start))
    return [results, rate]


def main():
    before = os.getloadavg()[0]
    rows = [cold_start()]
    cellar, kernel = Cellar(PROGRAM), Kernel()
    cellar.run("1")
    rows += [sessions(cellar), respawn(cellar, kernel), *cells(cellar, kernel), prints(cellar, kernel), memory(cellar),
             *interrupts(cellar, kernel), moments(cellar, kernel)]
    kernel.close()
    kernel = Kernel()
    rows += [stall(cellar, kernel), *queued(cellar, kernel)]
    cellar.close()
    kernel.close()
    rows += [big_print(), orphans()]
    print(f"load average {before:.1f} before, {os.getloadavg()[0]:.1f} after")
    print_table([["what", "cellar", "ipykernel", "python", "ipykernel / cellar"], *(row.cells() for row in rows)], MARKDOWN)


if __name__ == "__main__":
    main()
