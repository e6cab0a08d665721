#!/usr/bin/env python3
"""Joins the lines "name value unit" of session_bench or notebook_bench.py (stdin) into one table of ratios, with the bars.

Exit status: 0 all bars are met, 1 one is missed, 2 a number is missing.
"""
import argparse
import sys

MIB = 1 << 20
KIB = 1 << 10


class Row:
    """One line of the table: a measured number, what stands next to it, and the bar for one of the two."""

    def __init__(self, title, name, peer=None, against="", *, p99=False, at_most=None, ratio_at_most=None,
                 at_least=None):
        self.title = title
        self.name = name
        self.peer = peer
        self.against = against
        self.p99 = p99
        self.at_most = at_most
        self.ratio_at_most = ratio_at_most
        self.at_least = at_least


WITHOUT_PANDAS = "completion_without_pandas"


def rows(values):
    cold = 'python3 -c "import asyncio, json"'
    asked = values.get("queue_asked", (0, ""))[0]
    return [
        Row("cold start: cellar eval '1+1'", "cold_start", "cold_start_python", cold, ratio_at_most=1.3),
        Row("warm cellar eval -s, over a bare start", "warm_call", at_most=0.010),
        Row("new session -> first result", "new_session", "new_session_python", cold, at_most=0.005),
        Row("worker exits -> next result", "respawn", "respawn_python", cold, at_most=0.010),
        Row("SIGKILL -> outcome", "death", at_most=0.005),
        Row("cell x = i, blocking call", "cell", "cell_python", "python3 -i on a pipe", at_most=100e-6),
        Row("  the same", "cell", "cell_limit", "limit: wake-ups alone, handed over"),
        Row("cell x = i, on the loop thread", "cell_on_loop", "cell_on_loop_limit", "limit: wake-ups alone"),
        Row("bridge calls a second, one thread", "bridge_rate", "bridge_rate_limit", "limit: bare socket round trips"),
        Row("  16 threads together", "bridge_rate_threads", "bridge_rate_limit", "limit: bare socket round trips"),
        *([] if WITHOUT_PANDAS in values else [
            Row("completion, with pandas loaded", "completion", p99=True, at_most=0.300)]),
        Row("200,000 x print(i)", "prints", "prints_python", "python3 script | cat", ratio_at_most=1.5),
        Row("  the same", "prints", "prints_python_alone", "less the start of python3"),
        Row("idle session, growth of all PSS", "memory_growth", "memory_python", "one more python3 process",
            at_most=3 * MIB),
        Row("  PSS of its own processes", "memory_sessions", "memory_python", "one more python3 process"),
        Row("interrupt -> outcome, busy loop", "interrupt_busy", "interrupt_busy_python", "python3 and SIGINT",
            p99=True, at_most=0.020),
        Row("interrupt -> outcome, sleep", "interrupt_sleep", "interrupt_sleep_python", "python3 and SIGINT",
            p99=True, at_most=0.020),
        Row("interrupt -> outcome, await", "interrupt_await", "interrupt_await_python", "python3 and SIGINT",
            p99=True, at_most=0.020),
        Row("256 MiB print, growth of the host", "big_print_memory", at_most=50 * KIB + 16 * MIB),
        Row("256 MiB print, time", "big_print", "big_print_python", "python3 -c ... | cat"),
        Row("10,000 queued cells, in order", "queue_in_order", at_least=asked),
        Row("  cells a second", "queue_rate", "queue_rate_python", "python3 -i on a pipe"),
        Row("  growth of the host", "queue_memory", at_most=16 * MIB),
    ]


def notebook_rows(values):
    both = [
        Row("read, edit a cell, write: all files", "corpus_edit", "corpus_nbformat", "nbformat reads + writes",
            ratio_at_most=1 / 50),
        Row("read, show as text", "corpus_show", "corpus_nbformat", "nbformat reads + writes"),
        Row("read, apply the text with a change", "corpus_apply", "corpus_nbformat", "nbformat reads + writes"),
        Row("the command: show one notebook", "show", "show_nbformat", "python3: nbformat.read"),
    ]
    if "corpus_jupytext" in values:
        both.append(Row("read, convert to a script", "corpus_convert", "corpus_jupytext", "jupytext reads + writes"))
    for step in ("show", "edit", "apply"):
        both += [
            Row(f"10^6 cells: {step}", f"million_{step}", at_most=2.0),
            Row("  processor time of it", f"million_{step}_cpu"),
            Row("  peak of memory", f"million_{step}_memory", "million_size", "the file's size", ratio_at_most=3),
        ]
    return both + [
        Row("run 100 cells x = i", "run", "run_nbclient", "nbclient", ratio_at_most=0.1),
        Row("run 100 cells in 20 MB of notebook", "run_large", "run", "100 small cells"),
    ]


def read_values(lines):
    values = {}
    for line in lines:
        name, value, unit = line.split()
        values[name] = (float(value), unit)
    return values


def show(value, unit):
    if unit == "s":
        for factor, name in ((1, "s"), (1e3, "ms")):
            if value * factor >= 1:
                return f"{value * factor:.3g} {name}"
        return f"{value * 1e6:.3g} us"
    if unit == "B":
        return f"{value / MIB:.3g} MiB"
    return f"{value:,.0f} {unit}"


class Line:
    """A row with its numbers filled in. `missing` names those that were not measured."""

    def __init__(self, row, values):
        self.missing = []
        self._values = values
        median, unit = self._find(row.name)
        peer, _ = self._find(row.peer) if row.peer else (None, unit)
        tail = values.get(f"{row.name}/p99")
        judged = tail[0] if row.p99 and tail else median
        ratio = median / peer if peer else None
        bar, met = "", None
        if row.at_most is not None:
            bar, met = f"<= {show(row.at_most, unit)}{' p99' if row.p99 else ''}", judged <= row.at_most
        elif row.ratio_at_most is not None:
            bar, met = f"<= {row.ratio_at_most} x", ratio is not None and ratio <= row.ratio_at_most
        elif row.at_least is not None:
            bar, met = f">= {show(row.at_least, unit)}", median >= row.at_least
        self.met = met = None if self.missing else met
        self.cells = [row.title, show(median, unit), show(*tail) if tail else "", row.against,
                      show(peer, unit) if peer is not None else "", f"{ratio:.3g}" if ratio is not None else "", bar,
                      {None: "", True: "met", False: "MISSED"}[met]]

    def _find(self, name):
        for key in (name, f"{name}/median"):
            if key in self._values:
                return self._values[key]
        self.missing.append(name)
        return 0.0, ""


def print_table(lines):
    table = [["what", "median", "p99", "against", "median", "ratio", "bar", ""], *(line.cells for line in lines)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(table[0]))]
    left = {0, 3, 6, 7}
    for number, cells in enumerate(table):
        print("  ".join(text.ljust(width) if column in left else text.rjust(width)
                        for column, (text, width) in enumerate(zip(cells, widths))).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="too few measurements to judge a bar")
    parser.add_argument("--notebooks", action="store_true", help="the lines are those of notebook_bench.py")
    options = parser.parse_args()
    values = read_values(sys.stdin)
    lines = [Line(row, values) for row in (notebook_rows if options.notebooks else rows)(values)]
    load = [values.get(name, (float("nan"), ""))[0] for name in ("load_before", "load_after")]
    print(f"load average {load[0]:.1f} before, {load[1]:.1f} after")
    print_table(lines)
    if WITHOUT_PANDAS in values:
        print("skipped: completion, with pandas loaded (python3-pandas is not installed)")
    missing = [name for line in lines for name in line.missing]
    if missing:
        print("not measured: " + ", ".join(missing), file=sys.stderr)
        return 2
    missed = sum(line.met is False for line in lines)
    print(f"{sum(line.met is True for line in lines)} bars met, {missed} missed")
    return 1 if missed and not options.quick else 0


if __name__ == "__main__":
    sys.exit(main())
