"""What becomes of interrupts: how soon a cell ends by one, and whether one is lost or hits what it is not meant for."""
import random
import time

from compare_options import scaled
from compare_sides import state, wait_until
from compare_table import NEVER, NONE, Count, Row, tail_at_most

LIMIT_S = 5  # a cell that goes on for so long has not heard of it
LATE_S = 0.5  # after it, the next cell is sent, whose reply tells that this one has none
KERNEL_EVERY = 5  # of more rounds than elsewhere, since the bar is that of the 99th percentile


def interrupts(cellar, kernel):
    return [time_interrupts(cellar, kernel, *kind) for kind in (
        ("busy loop", "while True: pass", "R"),
        ("`time.sleep`", "time.sleep(600)", "S"),
        ("top-level await", "await asyncio.sleep(600)", "S"))]


def time_interrupts(cellar, kernel, title, code, busy_or_asleep):
    row = Row(f"interrupt to reply, {title}", tail_at_most(0.020))
    for i in range(scaled(100, 2)):
        for side in (cellar, kernel) if i % KERNEL_EVERY == 0 else (cellar,):
            if NEVER in row.samples[side.name]:
                continue
            side.run("import asyncio, time")
            worker = side.worker()
            number = side.begin(f"print('ready', flush=True)\n{code}")
            side.wait_for_text("ready")
            wait_until(lambda: state(worker) == busy_or_asleep)
            start = time.perf_counter()
            side.interrupt()
            reply = side.end(number, LIMIT_S)
            row.add(side.name, time.perf_counter() - start if reply else NEVER)
            if not reply:
                side.restart()
    return row


def moments(cellar, kernel):
    lost = Count("interrupts 0-10 ms into a cell of 5 ms: replies lost", NONE)
    died = Count("  workers that died", NONE)
    strayed = Count("  later cells that were hit", NONE)
    chance = random.Random(1)
    for _ in range(scaled(20, 2)):
        for side, count in ((cellar, scaled(500, 10)), (kernel, 10)):
            for _ in range(count):
                has_reply, lives, is_next_fine = interrupt_once(side, chance.uniform(0, 0.010))
                lost.add(side.name, not has_reply, 1)
                died.add(side.name, not lives, 1)
                strayed.add(side.name, not is_next_fine, 1)
    return [lost, died, strayed]


def interrupt_once(side, after_s):
    """Whether there was a reply, whether the worker lives, and whether the next cell was left alone."""
    worker = side.worker()
    number = side.begin("import time; time.sleep(0.005)")
    time.sleep(after_s)
    side.interrupt()
    has_reply = side.end(number, LATE_S) is not None
    next_number = side.begin("1")
    while (answer := side.next_reply(LIMIT_S)) and answer[0] != next_number:
        has_reply = has_reply or answer[0] == number
    lives = state(worker) != "Z"
    if not lives or not answer:
        side.restart()
    return has_reply, lives, answer is not None and side.is_fine(answer[1])
