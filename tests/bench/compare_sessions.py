"""How long processes and sessions take to start and to end, and what one more session costs."""
import subprocess
import sys
import time

from compare_options import KERNEL_EVERY, PROGRAM, scaled
from compare_sides import Cellar, Kernel, Plain, descendants, kill, proportional, state, wait_until
from compare_table import MIB, Row, at_most, at_most_of_python, less_than_ipykernel

ROUNDS = scaled(20)


def timed(action, *args):
    start = time.perf_counter()
    action(*args)
    return time.perf_counter() - start


def run_quietly(*command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def kernel_to_first_result():
    """A kernel, and the seconds that it took."""
    start = time.perf_counter()
    kernel = Kernel()
    kernel.run("1+1")
    return kernel, time.perf_counter() - start


def starts():
    command = Row("process start to first `1+1` (python: `import asyncio, json`)", at_most_of_python(1.3))
    serve = Row("  `cellar serve` instead of `cellar eval` (python: `-c 1+1`)")
    for i in range(ROUNDS):
        command.add("cellar", timed(run_quietly, PROGRAM, "eval", "1+1"))
        command.add("python", timed(run_quietly, sys.executable, "-c", "import asyncio, json"))
        start = time.perf_counter()
        cellar = Cellar(PROGRAM)
        cellar.run("1+1")
        serve.add("cellar", time.perf_counter() - start)
        cellar.close()
        serve.add("python", timed(run_quietly, sys.executable, "-c", "1+1"))
        if i % KERNEL_EVERY == 0:
            kernel, seconds = kernel_to_first_result()
            kernel.close()
            command.add("ipykernel", seconds)
            serve.add("ipykernel", seconds)
    return [command, serve]


def sessions(cellar):
    row = Row("one more session, to its first result", at_most(0.005), less_than_ipykernel(100))
    for i in range(ROUNDS):
        row.add("cellar", timed(cellar.run, "1+1", "new"))
        cellar.ask("close", session="new")
        if i % KERNEL_EVERY == 0:
            kernel, seconds = kernel_to_first_result()
            kernel.close()
            row.add("ipykernel", seconds)
    return row


def respawns(cellar, kernel):
    row = Row("worker killed -9, to the next result", at_most(0.010))
    for i in range(ROUNDS):
        cellar.run("1")
        kill(cellar.worker())
        row.add("cellar", timed(cellar.run, "1+1"))
        if i % KERNEL_EVERY == 0:
            kill(kernel.worker())
            row.add("ipykernel", timed(lambda: (kernel.restart(), kernel.run("1+1"))))
    return row


def resets(cellar, kernel):
    row = Row("reset, to the next result", at_most(0.010))
    for i in range(ROUNDS):
        for side in (cellar, kernel) if i % KERNEL_EVERY == 0 else (cellar,):
            side.run("1")
            row.add(side.name, timed(lambda: (side.reset(), side.run("1+1"))))
    return row


def deaths(cellar, kernel):
    row = Row("worker killed -9 in a cell, to the word of it (ipykernel: heartbeat)", at_most(0.005))
    for i in range(ROUNDS):
        for side in (cellar, kernel) if i % KERNEL_EVERY == 0 else (cellar,):
            side.run("import time")
            worker = side.worker()
            number = side.begin("print('ready', flush=True); time.sleep(600)")
            side.wait_for_text("ready")
            wait_until(lambda: state(worker) == "S")
            if side is kernel:
                wait_until(kernel.client.hb_channel.is_beating)
            kill(worker)
            row.add(side.name, timed(side.wait_for_death, number))
            if side is kernel:
                kernel.restart()
    return row


def memory(cellar):
    """Of cellar with the snapshot that an idle session has."""
    row = Row("memory of one more idle session (growth of all PSS)", at_most(3 * MIB, "B"), unit="B")
    kernels, plains = [], []

    def open_session():
        name = f"idle {len(kernels)}"
        cellar.run("1", name)
        wait_until(lambda: cellar.session(name)["snapshots"])

    def open_in(others, start):
        others.append(start())
        others[-1].run("1")

    def growth(pids, open_one):
        before = proportional(pids())
        open_one()
        return proportional(pids()) - before

    for i in range(1 + scaled(9)):
        values = {
            "cellar": growth(lambda: descendants(cellar.process.pid), open_session),
            "ipykernel": growth(lambda: [kernel.worker() for kernel in kernels], lambda: open_in(kernels, Kernel)),
            "python": growth(lambda: [plain.process.pid for plain in plains], lambda: open_in(plains, Plain))}
        for side, value in values.items() if i > 0 else ():  # the first one pays for what all share
            row.add(side, value)
    for other in kernels + plains:
        other.close()
    return row
