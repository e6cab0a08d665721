"""A traceback's stack as text, without the frames of cellar's own code."""

__builtins__ = __import__("builtins").__dict__.copy()

import traceback
from collections import deque
from itertools import islice
from types import TracebackType

from cellar_runtime import cell_sources, untrusted

MAX_HEAD_FRAMES = 40
MAX_TAIL_FRAMES = 60
MAX_LINE_CHARS = 2000
MAX_REPEATS = 3  # of one frame in a row, as in Python's own tracebacks

_OWN_CODE = ("<frozen cellar_runtime", "<frozen cellar_prelude")


def is_own(frame) -> bool:
    """Whether it is one of cellar's own code."""
    return frame.f_code.co_filename.startswith(_OWN_CODE)


def visible_frames(tb: TracebackType | None):
    """The traceback's entries outside cellar's own code."""
    while tb is not None:
        if not is_own(tb.tb_frame):
            yield tb
        tb = tb.tb_next


def format_stack(tb: TracebackType | None) -> str:
    """The frames as Python prints them: repetitions folded, the middle of a long stack left out."""
    head, tail, count = [], deque(maxlen=MAX_TAIL_FRAMES), 0
    for run in _runs(tb):
        (head if count < MAX_HEAD_FRAMES else tail).append(run)
        count += 1
    lines = [_format_run(*run) for run in head]
    skipped = count - len(head) - len(tail)
    if skipped:
        lines.append(f"  [... {skipped} frames left out ...]\n")
    lines.extend(_format_run(*run) for run in tail)
    return "".join(lines).rstrip("\n")


def _runs(tb: TracebackType | None):
    """(entry, how often it repeats in a row) for the visible frames; recursion makes long runs."""
    entry, repeats = None, 0
    for following in visible_frames(tb):
        if entry is not None and _place(entry) == _place(following):
            repeats += 1
            continue
        if entry is not None:
            yield entry, repeats
        entry, repeats = following, 1
    if entry is not None:
        yield entry, repeats


def _place(tb: TracebackType) -> tuple:
    return tb.tb_frame.f_code, tb.tb_lineno


def _format_run(tb: TracebackType, repeats: int) -> str:
    text = _format_frame(tb)
    if repeats <= MAX_REPEATS:
        return text * repeats
    more = repeats - MAX_REPEATS
    times = "times" if more > 1 else "time"
    return f"{text * MAX_REPEATS}  [Previous line repeated {more} more {times}]\n"


def _format_frame(tb: TracebackType) -> str:
    code = tb.tb_frame.f_code
    try:
        return _format_with_source(tb)
    except untrusted.FAILURES:  # a module's __loader__ failed, or a cell emptied builtins
        return f'  File "{code.co_filename}", line {tb.tb_lineno}, in {code.co_name}\n'


def _format_with_source(tb: TracebackType) -> str:
    code, lineno = tb.tb_frame.f_code, tb.tb_lineno
    source = cell_sources.line(code.co_filename, lineno, tb.tb_frame.f_globals)
    line, end_line, column, end_column = _position_of(tb)
    if line != lineno or not source or len(source) > MAX_LINE_CHARS:  # carets would point nowhere
        end_line = column = end_column = None
    frame = traceback.FrameSummary(
        code.co_filename,
        lineno,
        code.co_name,
        line=untrusted.cut_end(source, MAX_LINE_CHARS) if column is None else None,
        end_lineno=end_line,
        colno=column,
        end_colno=end_column,
    )
    return traceback.StackSummary.from_list([frame]).format()[0]


def _position_of(tb: TracebackType) -> tuple:
    """(line, end line, column, end column) of the instruction that raised, None where unknown."""
    unknown = (None, None, None, None)
    if tb.tb_lasti < 0:
        return unknown
    return next(islice(tb.tb_frame.f_code.co_positions(), tb.tb_lasti // 2, None), unknown)
