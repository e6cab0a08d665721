"""What is left when the host is killed -9 while a cell runs.

usage: compare_orphans.py CELLAR SIDE KIND SIGN
is the program that holds a client: it prints the pid of the host once the cell is there, and stays. The cell writes the
file SIGN, since ipykernel sends what it prints from a thread, which code in C keeps from running."""
import os
import signal
import subprocess
import sys
import tempfile
import time

from compare_options import PROGRAM, scaled
from compare_sides import Cellar, Kernel, descendants, state, wait_until
from compare_table import NONE, Count

END_S = 0.5
BEGIN = """
import os, signal, subprocess, time

def sign(*pids):
    with open(SIGN + '.new', 'w') as file:
        print(os.getpid(), *pids, file=file)
    os.rename(SIGN + '.new', SIGN)
"""
CELLS = {
    "in C code": "import ctypes; sign(); ctypes.PyDLL(None).sleep(600)",
    "stopped": "sign(); os.kill(os.getpid(), signal.SIGSTOP)",
    "with children, in sessions of their own": """
children = [subprocess.Popen(["sleep", "600"], start_new_session=True).pid for _ in range(3)]
orphan = subprocess.check_output("setsid sleep 600 >/dev/null & echo $!", shell=True)
sign(*children, int(orphan))
time.sleep(600)""",
}


def orphans():
    rows = []
    for number, kind in enumerate(CELLS):
        text = f"processes left {END_S} s after a kill -9 of the host, cell {kind}" if number == 0 else f"  cell {kind}"
        rows.append(Count(text, NONE))
        for _ in range(scaled(2)):
            for side in ("cellar", "ipykernel"):
                rows[-1].add(side, *kill_host(side, kind))
    return rows


def kill_host(side, kind):
    """How many processes are left, and how many there were."""
    with tempfile.TemporaryDirectory() as directory:
        sign = os.path.join(directory, "sign")
        client = subprocess.Popen([sys.executable, __file__, PROGRAM, side, kind, sign], stdout=subprocess.PIPE)
        host = int(client.stdout.readline() or sys.exit(f"compare: the cell of {side} that is to be left alone has not started"))
        with open(sign) as pids:
            below = {*descendants(host)[1:], *map(int, pids.read().split())}
    os.kill(host, signal.SIGKILL)
    wait_until(lambda: all(state(pid) == "Z" for pid in below), END_S)
    left = [pid for pid in below if state(pid) != "Z"]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    client.kill()
    client.wait()
    client.stdout.close()
    return len(left), len(below)


def hold(side, kind, sign):
    # The host of a kernel is the program that holds its client; that of cellar's workers is `cellar serve`.
    guest = Cellar(PROGRAM) if side == "cellar" else Kernel()
    guest.begin(f"SIGN = {sign!r}{BEGIN}{CELLS[kind]}")
    wait_until(lambda: os.path.exists(sign))
    with open(sign) as pids:
        worker = int(pids.read().split()[0])
    wait_until(lambda: state(worker) == ("T" if kind == "stopped" else "S"))
    print(guest.process.pid if side == "cellar" else os.getpid(), flush=True)
    time.sleep(600)


if __name__ == "__main__":
    hold(*sys.argv[2:])
