#!/usr/bin/env python3
"""Measures cellar next to ipykernel and plain python. usage: compare.py CELLAR [--quick] [--markdown]

Exit status: 0 all bars are met, 1 one is missed (never with --quick)."""
import os
import sys

from compare_cells import cells, queued
from compare_interrupts import interrupts, moments
from compare_notebook import notebook
from compare_options import MARKDOWN, PROGRAM, QUICK
from compare_orphans import orphans
from compare_output import big_print, prints, stall
from compare_sessions import deaths, memory, resets, respawns, sessions, starts
from compare_sides import Cellar, Kernel
from compare_table import HEADING, print_table


def main():
    load = os.getloadavg()[0]
    of_notebook = notebook()  # first: a program's peak of memory is never less than that of the one that starts it
    rows = starts()
    cellar, kernel = Cellar(PROGRAM), Kernel()
    cellar.run("1")
    rows += [sessions(cellar), respawns(cellar, kernel), resets(cellar, kernel), deaths(cellar, kernel),
             *cells(cellar, kernel), prints(cellar, kernel), memory(cellar), *interrupts(cellar, kernel),
             *moments(cellar, kernel)]
    kernel.restart()
    rows += [stall(cellar, kernel)]
    cellar.close()
    kernel.close()
    rows += [big_print(), *orphans(), *queued(), *of_notebook]
    met, missed = (sum(row.is_met() is wanted for row in rows) for wanted in (True, False))
    print(f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after; bars: {met} met, {missed} missed\n")
    print_table([HEADING, *(row.texts() for row in rows)], MARKDOWN)
    return 1 if missed and not QUICK else 0


if __name__ == "__main__":
    sys.exit(main())
