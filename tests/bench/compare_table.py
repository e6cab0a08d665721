"""A table: rows of what was measured on each side, with the bars that cellar's numbers are held to."""
import math
import statistics

SIDES = ("cellar", "ipykernel", "python")
HEADING = ["what", *SIDES, "ipykernel / cellar", "cellar / python", "bar", ""]
MIB = 1 << 20
NEVER = float("inf")
FEWEST_FOR_TAIL = 20


class Row:
    """Numbers of one kind, by side: seconds or bytes. Each bar is a text, and whether a row meets it."""

    def __init__(self, title, *bars, unit="s"):
        self.title, self.bars, self.unit = title, bars, unit
        self.samples = {side: [] for side in SIDES}
        self.tails = {}

    def add(self, side, value):
        self.samples[side].append(value)

    def median(self, side):
        """Of a side that once has not answered, it is NEVER."""
        values = self.samples[side]
        return NEVER if NEVER in values else statistics.median(values) if values else None

    def tail(self, side):
        """The 99th percentile by nearest rank; nothing where the samples are too few."""
        values = sorted(self.samples[side])
        if len(values) >= FEWEST_FOR_TAIL:
            return values[math.ceil(len(values) * 0.99) - 1]
        return self.tails.get(side)

    def ratio(self, side, other):
        mine, theirs = self.median(side), self.median(other)
        return mine / theirs if mine and theirs and mine != NEVER else None

    def show(self, side):
        median, tail = self.median(side), self.tail(side)
        if median is None:
            return ""
        return show(median, self.unit) + (f" (p99 {show(tail, self.unit)})" if tail is not None and median != NEVER else "")

    def is_met(self):
        """Nothing where there is no bar."""
        return all(meets(self) for _, meets in self.bars) if self.bars else None

    def texts(self):
        ratios = [self.ratio("ipykernel", "cellar"), self.ratio("cellar", "python")]
        return [self.title, *map(self.show, SIDES), *("" if ratio is None else digits(ratio) for ratio in ratios),
                "; ".join(text for text, _ in self.bars), {None: "", True: "met", False: "MISSED"}[self.is_met()]]


class Count(Row):
    """How many of how many, by side."""

    def __init__(self, title, *bars):
        super().__init__(title, *bars)
        self.counts = {side: (0, 0) for side in SIDES}

    def add(self, side, number, of):
        self.counts[side] = (self.counts[side][0] + number, self.counts[side][1] + of)

    def show(self, side):
        number, of = self.counts[side]
        return f"{number:,} of {of:,}" if of else ""


NONE = "0", lambda row: row.counts["cellar"][0] == 0
ALL = "all", lambda row: row.counts["cellar"][0] == row.counts["cellar"][1]


def at_most(limit, unit="s"):
    return f"≤ {show(limit, unit)}", lambda row: row.median("cellar") <= limit


def tail_at_most(limit):
    return f"p99 ≤ {show(limit, 's')}", lambda row: (row.tail("cellar") or row.median("cellar")) <= limit


def at_most_of_python(ratio):
    return f"≤ {ratio} × python", lambda row: row.ratio("cellar", "python") <= ratio


def less_than_ipykernel(times):
    return f"{times} × less than ipykernel", lambda row: row.ratio("ipykernel", "cellar") >= times


def show(value, unit):
    if value == NEVER:
        return "never"
    if unit == "B":
        return f"{digits(value / MIB)} MiB"
    return f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def digits(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def print_table(table, markdown):
    """Lists of texts, the first of them the heading."""
    if markdown:
        for texts in [table[0], ["---"] * len(table[0]), *table[1:]]:
            print("| " + " | ".join(texts) + " |")
    else:
        widths = [max(len(texts[column]) for texts in table) for column in range(len(table[0]))]
        for texts in table:
            print("  ".join(text.ljust(width) for text, width in zip(texts, widths)).rstrip())
