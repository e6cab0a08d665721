"""Errors as text: a cell's exception with its causes, its groups and its notes.

Reads exceptions through the descriptors of BaseException, so that a class which overrides
`__cause__`, `__traceback__` or `__class__` is reported like any other. What is shown is bounded,
whatever was raised.
"""

__builtins__ = __import__("builtins").__dict__.copy()

import traceback
from itertools import islice

from cellar_runtime import cell_sources, stack, untrusted

MAX_TEXT_BYTES = 64 * 1024
MAX_EVALUE_BYTES = 16 * 1024
MAX_CHAIN = 20
MAX_GROUP_DEPTH = 10
MAX_GROUP_WIDTH = 15
MAX_EXCEPTIONS = 200  # in one report; chains inside groups multiply
MAX_NOTES = 50

CELL_PREFIX = "<cell "

_C_LONG_LIMIT = 2**63

_HEADER = "Traceback (most recent call last):"
_GROUP_HEADER = "Exception Group Traceback (most recent call last):"
_CAUSED = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"

_read_cause = BaseException.__dict__["__cause__"].__get__
_read_context = BaseException.__dict__["__context__"].__get__
_read_suppress = BaseException.__dict__["__suppress_context__"].__get__
_read_traceback = BaseException.__dict__["__traceback__"].__get__
_read_exceptions = BaseExceptionGroup.__dict__["exceptions"].__get__
_read_exit_code = SystemExit.__dict__["code"].__get__


def format_error(exc: BaseException) -> tuple[str, str, str, int | None]:
    """(ename, evalue, traceback text, exit code of a SystemExit or None), valid UTF-8 and bounded.

    Raises nothing but what interrupts a cell: a `__str__` that runs for ever can be interrupted.
    """
    ename = untrusted.type_name(type(exc))
    if issubclass(type(exc), SystemExit):
        code = _read_exit_code(exc)
        evalue = "" if code is None else untrusted.cut_middle(untrusted.safe_str(code), MAX_EVALUE_BYTES)
        return ename, evalue, f"{ename}: {evalue}" if evalue else ename, _exit_status(code)
    evalue = untrusted.cut_middle(untrusted.safe_str(exc), MAX_EVALUE_BYTES)
    try:
        text = untrusted.cut_middle(_Report().text_of(exc), MAX_TEXT_BYTES)
    except untrusted.FAILURES as failure:
        reason = untrusted.type_name(type(failure))
        text = f"{ename}: {evalue}\n[the traceback could not be formatted: {reason}]"
    return ename, evalue, text, None


def traceback_of(exc: BaseException):
    """Its traceback, whatever its class says."""
    return _read_traceback(exc)


def codes_of(exc: BaseException) -> set[int]:
    """The ids of the code objects that it came through."""
    codes, entry = set(), _read_traceback(exc)
    while entry is not None:
        codes.add(id(entry.tb_frame.f_code))
        entry = entry.tb_next
    return codes


def _exit_status(code: object) -> int:
    """The status a process would end with."""
    if code is None:
        return 0
    if not issubclass(type(code), int):
        return 1
    number = int.__index__(code)
    return number & 0xFF if -_C_LONG_LIMIT <= number < _C_LONG_LIMIT else 0xFF


class _Report:
    """The lines of one exception with all that hangs on it, laid out as Python does."""

    def __init__(self):
        self._lines = []
        self._group_depth = 0
        self._exceptions = 0
        self._is_closed = False  # whether the last line is a border; it ends the outer groups too

    def text_of(self, exc: BaseException) -> str:
        self._add_chain(exc)
        return "\n".join(self._lines)

    def _emit(self, text: str, margin: str = "|") -> None:
        prefix = "  " * self._group_depth + margin + " " if self._group_depth else ""
        self._lines.extend(prefix + line for line in text.split("\n"))
        self._is_closed = False

    def _add_chain(self, exc: BaseException) -> None:
        chain = [(exc, None)] if _is_cell_syntax_error(exc) else _chain_of(exc)
        skipped, half = len(chain) - MAX_CHAIN, MAX_CHAIN // 2
        for index, (link, message) in enumerate(chain):
            if skipped > 0 and index == half:
                self._emit(f"\n[... {skipped} exceptions of this chain left out ...]")
            if half <= index < half + skipped:
                continue
            if message:
                self._emit(f"\n{message}\n")
            self._add_exception(link)

    def _add_exception(self, exc: BaseException) -> None:
        self._exceptions += 1
        if self._exceptions > MAX_EXCEPTIONS:
            if self._exceptions == MAX_EXCEPTIONS + 1:
                self._emit(f"[... all exceptions after the first {MAX_EXCEPTIONS} left out ...]")
        elif issubclass(type(exc), BaseExceptionGroup):
            self._add_group(exc)
        else:
            self._add_frames(exc, _HEADER)
            self._emit(_message_of(exc))

    def _add_group(self, group: BaseExceptionGroup) -> None:
        if self._group_depth > MAX_GROUP_DEPTH:
            self._emit(f"... (groups nested deeper than {MAX_GROUP_DEPTH} levels)")
            return
        is_outermost = self._group_depth == 0
        self._group_depth += is_outermost
        self._add_frames(group, _GROUP_HEADER, "+" if is_outermost else "|")
        self._emit(_message_of(group))
        self._add_members(_read_exceptions(group))
        self._group_depth -= is_outermost

    def _add_members(self, members: tuple) -> None:
        for index, member in enumerate(members[: MAX_GROUP_WIDTH + 1]):
            corner = "+-+" if index == 0 else "  +"
            is_too_many = index == MAX_GROUP_WIDTH
            title = "..." if is_too_many else str(index + 1)
            indent = "  " * self._group_depth
            self._lines.append(f"{indent}{corner}---------------- {title} ----------------")
            self._group_depth += 1
            self._is_closed = False
            if is_too_many:
                remaining = len(members) - MAX_GROUP_WIDTH
                self._emit(f"and {remaining} more exception{'s' if remaining > 1 else ''}")
            else:
                self._add_chain(member)
            self._group_depth -= 1
        if not self._is_closed:
            indent = "  " * (self._group_depth + 1)
            self._lines.append(f"{indent}+------------------------------------")
            self._is_closed = True

    def _add_frames(self, exc: BaseException, header: str, margin: str = "|") -> None:
        frames = stack.format_stack(_read_traceback(exc))
        if frames:
            self._emit(header, margin)
            self._emit(frames)


def _chain_of(exc: BaseException) -> list[tuple[BaseException, str | None]]:
    """What led to exc, oldest first, each with the words that link it to the one before."""
    links, seen = [], set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        previous, message = _read_cause(exc), _CAUSED
        if previous is None and not _read_suppress(exc):
            previous, message = _read_context(exc), _DURING
        is_first = previous is None or id(previous) in seen
        links.append((exc, None if is_first else message))
        exc = previous
    links.reverse()
    return links


def _is_cell_syntax_error(exc: BaseException) -> bool:
    """Whether compiling the cell itself failed, so that no user code ran and nothing led to it."""
    if not issubclass(type(exc), SyntaxError):
        return False
    filename = SyntaxError.filename.__get__(exc)
    if type(filename) is not str or not filename.startswith(CELL_PREFIX):
        return False
    return not any(True for _ in stack.visible_frames(_read_traceback(exc)))


def _message_of(exc: BaseException) -> str:
    """What stands below the frames: a syntax error's caret block, `Name: text`, and the notes."""
    cls = type(exc)
    name = untrusted.qualified_name(cls).removeprefix("builtins.").removeprefix("__main__.")
    if issubclass(cls, SyntaxError):
        block, text = _caret_block(exc), untrusted.safe_str(SyntaxError.msg.__get__(exc))
    else:
        block, text = "", untrusted.safe_str(exc)
    text = untrusted.cut_middle(text, MAX_TEXT_BYTES // 2)
    return "\n".join([f"{block}{name}: {text}" if text else f"{block}{name}", *_notes_of(exc)])


def _caret_block(exc: SyntaxError) -> str:
    """The place of a syntax error, formatted from a copy without chain and overridden fields."""
    names = ("filename", "lineno", "offset", "text", "end_lineno", "end_offset")
    place = {name: SyntaxError.__dict__[name].__get__(exc) for name in names}
    if place["lineno"] is None:
        return ""
    try:
        if place["text"] is None:  # the compiler looks for it in a file, and a cell has none
            place["text"] = cell_sources.line(place["filename"], place["lineno"]) or None
        block = traceback.format_exception_only(SyntaxError("", tuple(place.values())))[:-1]
        lines = "".join(block).removesuffix("\n").split("\n")
        return "".join(untrusted.cut_end(line, stack.MAX_LINE_CHARS) + "\n" for line in lines)
    except untrusted.FAILURES:  # fields of types that no compiler gives
        return ""


def _notes_of(exc: BaseException) -> list[str]:
    try:
        notes = getattr(exc, "__notes__", None)
        if notes is None:
            return []
        if not issubclass(type(notes), (list, tuple)):
            return [untrusted.safe_repr(notes)]
        shown = [untrusted.safe_str(note) for note in islice(notes, MAX_NOTES)]
        left_out = len(notes) - len(shown)
    except untrusted.FAILURES:
        return []
    return [*shown, f"[... {left_out} notes left out ...]"] if left_out else shown
