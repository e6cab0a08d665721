"""`output`: what earlier cells and agents have written, read back by id."""
__builtins__ = __import__("builtins").__dict__.copy()

import os
import re
from io import StringIO

from cellar_prelude import arguments, bridge, files
from cellar_prelude.status import note
from cellar_runtime import late_import

_FORMATS = ("raw", "json", "stripped")
_SCHEMES = ("artifact://", "agent://")
_MAX_IDS_SHOWN = 20
# Escape sequences of a terminal: CSI, OSC up to its end, and those of two characters.
_TERMINAL = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"


def output(*ids, format="raw", query=None, offset=None, limit=None):
    """Read what a cell or an agent has written, by its id (`artifact://…`, `agent://…` or the bare id).

    One id gives its text; with format="json" a dict with id, path, content, lines and chars. Several give a list of
    dicts. format="stripped" is the text without the colours of a terminal.

        output("cellar-0a1b2c3d4e5f.log", offset=100, limit=50)     lines 100 to 149
        output("Reviewer", query=".findings[0].title")              from output that is JSON

    A query gives text as it is and other values as JSON; with format="json", the value itself as `content`. Output of
    an agent that still runs is asked from whoever runs it.
    """
    if not ids:
        raise TypeError("output() needs at least one id")
    if format not in _FORMATS:
        raise ValueError(f"output(): format must be one of {', '.join(_FORMATS)}, not {format!r}")
    steps = None if query is None else _queries().parse(arguments.text("output", "query", query))
    if steps is not None and (offset is not None or limit is not None):
        raise ValueError("output(): query cannot be combined with offset or limit")
    first, count = arguments.line_range("output", offset, limit)
    names = [_name(each) for each in ids]
    results = [_select(_load(name, first, count), steps, format) for name in names]
    note("output", ids=names, chars=sum(result["chars"] for result in results))
    if len(results) > 1:
        return results
    return results[0] if format == "json" else results[0]["content"]


def _name(given):
    name = arguments.text("output", "an id", given)
    for scheme in _SCHEMES:
        name = name.removeprefix(scheme)
    if "/" in name or "\0" in name or name.startswith("."):
        raise ValueError(f"output(): {given!r} is not the id of an output")
    return name


def _load(name, first, count):
    """Lines of an output, as a dict with id, path and content."""
    directory = _directory()
    for file_name in (name, f"{name}.md"):
        path = os.path.join(directory, file_name) if directory else ""
        if path and os.path.isfile(path):
            # Only those lines are read: the output of one cell can be larger than what is read at once.
            data = files.read_lines(path, first, count, opener=_open_no_link)
            if not data and count != 0:
                _check_offset(name, first, _lines_in(path))
            return {"id": name, "path": path, "content": data.decode("utf-8", "replace")}
    if bridge.is_connected():
        value = bridge.provider().call(bridge.OUTPUT, {"id": name})
        if value is not None:
            return {"id": name, "path": None, "content": _range(name, _text(value), first, count)}
    known = ", ".join(_known(directory)) or "none"
    raise FileNotFoundError(f"output(): there is no output {name!r}; those in {directory or 'no directory'}: {known}")


def _range(name, text, first, count):
    if first == 1 and count is None:
        return text
    lines = StringIO(text, newline="\n").readlines()
    if count != 0:
        _check_offset(name, first, len(lines))
    return "".join(lines[first - 1:None if count is None else first - 1 + count])


def _check_offset(name, first, lines):
    if first > max(1, lines):
        raise ValueError(f"output(): offset {first} is past the end of {name}, which has {lines} lines")


def _lines_in(path):
    with open(path, "rb", opener=_open_no_link) as file:
        return sum(1 for _ in file)


def _select(result, steps, format):
    content = result["content"]
    if steps is not None:
        value = _query(result, steps)
        content = value if format == "json" else _text(value)
    elif format == "stripped":
        content = _stripped(content)
    text = _text(content)
    lines = text.count("\n") + (not text.endswith("\n") and text != "")
    return {**result, "content": content, "lines": lines, "chars": len(text)}


def _stripped(text):
    return re.sub(_TERMINAL, "", text)


def _queries():
    return late_import.load("cellar_prelude.query")  # its patterns take milliseconds to compile: not in every worker


def _query(result, steps):
    try:
        value = late_import.load("json").loads(result["content"])
    except ValueError as error:
        raise ValueError(f"output(): a query needs JSON, and {result['id']} is none: {error}") from None
    try:
        return _queries().apply(value, steps)
    except LookupError as error:
        raise LookupError(f"output(): in {result['id']}, {error.args[0]}") from None


def _directory():
    directory = os.environ.get("PI_ARTIFACTS_DIR")
    if directory:
        return directory
    session = os.environ.get("PI_SESSION_FILE")
    return os.path.splitext(session)[0] if session else None


def _known(directory):
    try:
        names = sorted(os.listdir(directory)) if directory else []
    except OSError:
        return []
    shown = [name.removesuffix(".md") for name in names if not name.startswith(".")]
    more = len(shown) - _MAX_IDS_SHOWN
    return shown[:_MAX_IDS_SHOWN] + ([f"and {more} more"] if more > 0 else [])


def _open_no_link(path, flags):
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _text(value):
    if isinstance(value, str):
        return value
    return late_import.load("json").dumps(value, ensure_ascii=False, indent=2)
