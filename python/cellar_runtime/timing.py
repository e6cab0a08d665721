"""How long code takes: what `%time` and `%timeit` measure and say."""
__builtins__ = __import__("builtins").__dict__.copy()

import ast
import gc
import math
from resource import RUSAGE_SELF, getrusage
from time import perf_counter

_REPEATS = 7
_LEAST_S = 0.2  # that one round of a measurement should take
_UNITS = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


class Stopwatch:
    """Starts when it is made."""

    def __init__(self):
        self._usage = getrusage(RUSAGE_SELF)
        self._wall = perf_counter()

    def report(self) -> str:
        wall, now = perf_counter() - self._wall, getrusage(RUSAGE_SELF)
        user, system = now.ru_utime - self._usage.ru_utime, now.ru_stime - self._usage.ru_stime
        return (f"CPU times: user {_span(user)}, sys: {_span(system)}, total: {_span(user + system)}\n"
                f"Wall time: {_span(wall)}")


class TimeitResult:
    """What %timeit measured: seconds for one loop, of each round."""

    def __init__(self, loops: int, timings: list[float]):
        self.loops = loops
        self.timings = timings
        self.best = min(timings)
        self.worst = max(timings)
        self.average = math.fsum(timings) / len(timings)
        self.stdev = math.sqrt(math.fsum((each - self.average) ** 2 for each in timings) / len(timings))

    def __str__(self):
        rounds, loops = len(self.timings), self.loops
        return (f"{_span(self.average)} ± {_span(self.stdev)} per loop (mean ± std. dev. of {rounds} "
                f"run{'s' * (rounds != 1)}, {loops:,} loop{'s' * (loops != 1)} each)")

    __repr__ = __str__


class Options:
    """`-n` loops in a round, `-r` rounds, `-q` says nothing, `-o` gives the result back."""

    def __init__(self):
        self.loops = None
        self.rounds = _REPEATS
        self.is_quiet = False
        self.gives_result = False


def split_options(text: str) -> tuple[Options, str]:
    """The options at the beginning of a line, and the rest of it. Raises ValueError for one that is not known."""
    options = Options()
    while (text := text.lstrip()).startswith("-") and len(text) > 1 and text[1].isalpha():
        word, _, rest = text.partition(" ")
        name, value = word[1], word[2:]
        if name in "nr":
            if not value:
                value, _, rest = rest.lstrip().partition(" ")
            if not value.isdigit() or int(value) < 1:
                raise ValueError(f"-{name} needs a number from 1 on, not {value!r}")
            if name == "n":
                options.loops = int(value)
            else:
                options.rounds = int(value)
        elif word == "-q":
            options.is_quiet = True
        elif word == "-o":
            options.gives_result = True
        else:
            raise ValueError(f"{word} is not known; there are -n N, -r N, -q, -o")
        text = rest
    return options, text


def make_loop(name: str, line: int, setup: str, code: str, is_async: bool, names: dict):
    """A function of the number of loops that gives the seconds they took; the code's places are those of the cell."""
    # Names that the code does not have: it must find its own.
    source = (f"{'async ' if is_async else ''}def loop(__cellar_count, __cellar_clock):\n"
              "    __cellar_begin = __cellar_clock()\n"
              "    for __cellar_loop in __cellar_count:\n        pass\n"
              "    return __cellar_clock() - __cellar_begin\n")
    tree = ast.parse(source)
    function = tree.body[0]
    function.body[0:0] = _statements(name, line, setup)
    # The function's own nodes come last, so the loop is the last but one.
    function.body[-2].body = _statements(name, line, code) or function.body[-2].body
    scope = {}
    exec(compile(ast.fix_missing_locations(tree), name, "exec", dont_inherit=True), names, scope)
    return scope["loop"]


def _statements(name, line, code):
    tree = compile(code, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST, True)
    return ast.increment_lineno(tree, line - 1).body


class _Measurement:
    """Chooses how many loops make a round, then collects the rounds."""

    def __init__(self, options):
        self._options = options
        self.loops = options.loops or 1
        self._is_choosing = options.loops is None
        self.timings = []

    @property
    def is_done(self):
        return len(self.timings) == self._options.rounds

    def add(self, seconds):
        if self._is_choosing and seconds < _LEAST_S and self.loops < 10**9:
            self.loops *= 10
        else:
            self._is_choosing = False
            self.timings.append(seconds / self.loops)


def measure(loop, options: Options) -> TimeitResult:
    measurement = _Measurement(options)
    with _NoCollection():
        while not measurement.is_done:
            measurement.add(loop(range(measurement.loops), perf_counter))
    return TimeitResult(measurement.loops, measurement.timings)


async def measure_async(loop, options: Options) -> TimeitResult:
    measurement = _Measurement(options)
    with _NoCollection():
        while not measurement.is_done:
            measurement.add(await loop(range(measurement.loops), perf_counter))
    return TimeitResult(measurement.loops, measurement.timings)


class _NoCollection:
    """Garbage is not collected meanwhile, as in Python's own timeit."""

    def __enter__(self):
        self._was_enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_):
        if self._was_enabled:
            gc.enable()


def _span(seconds):
    if seconds >= 60:
        minutes, rest = divmod(int(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}h {minutes}min {rest}s" if hours else f"{minutes}min {rest}s"
    for scale, unit in _UNITS:
        if seconds >= 0.9995 * scale:  # which three digits round up to a whole one
            break
    return f"{seconds / scale:.3g} {unit}"
