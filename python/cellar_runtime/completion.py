"""What could stand at a place in a text: names, attributes, keys, paths, arguments, modules. Runs no user code."""
__builtins__ = __import__("builtins").__dict__.copy()

import itertools
import keyword
import os
import pkgutil
import re
import sys
import threading
from importlib.machinery import PathFinder

from cellar_runtime import magic_commands, static_lookup
from cellar_runtime.inspection import enclosing_call
from cellar_runtime.static_lookup import MISSING

MAX_MATCHES = 1000
_MAX_CANDIDATES = 5000  # which are looked at, and the best of them taken
_MAX_TEXT_CHARS = 20_000  # before the cursor
_MAX_WORD_CHARS = 1000
_MAX_SIGNATURES = 100
_MAX_JEDI_CHARS = 20_000
_IMPORT = re.compile(r"\s*import\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*(?P<path>[\w.]*)\Z")
_FROM = re.compile(r"\s*from\s+(?P<path>[\w.]*)\Z")
_FROM_IMPORT = re.compile(
    r"\s*from\s+(?P<module>[\w.]+)\s+import\s+\(?(?:\s*\w+(?:\s+as\s+\w+)?\s*,)*\s*\w*\Z", re.DOTALL)
_MAGIC = re.compile(r"\s*(?P<marks>%%?)(?P<name>\w*)\Z")
_WORD = re.compile(r"\w*\Z")
# Names that the text itself binds, as far as a glance can tell.
_ASSIGNED = re.compile(
    r"(?:\b(?:def|class|import|as|for|global)\s+|^[ \t]*)([A-Za-z_]\w*)(?=\s*(?:=(?!=)|\(|:|,|$|\s+in\b))", re.MULTILINE)

_modules_of_path: dict[tuple, list[str]] = {}
_jedi = None
_jedi_thread = None


def complete(names: dict, text: str, cursor: int) -> dict:
    """`matches`, each with text and type and, for what can be called, signature; they replace text[start:end]."""
    cursor = max(0, min(cursor, len(text)))
    start, matches = _matches(names, text, cursor)
    unique = {match["text"]: match for match in matches}
    chosen = sorted(unique.values(), key=_rank)[:MAX_MATCHES]
    return {"matches": chosen, "start": start, "end": cursor}


def _matches(names, text, cursor):
    before = text[max(0, cursor - _MAX_TEXT_CHARS):cursor]
    line = before.rpartition("\n")[2]
    word = _WORD.search(before[-_MAX_WORD_CHARS:])[0]
    start = cursor - len(word)
    string = _open_string(line)
    if string is not None:
        return _in_string(names, line, string, cursor)
    if (match := _MAGIC.match(line)) is not None:
        known = magic_commands.CELL_MAGICS if match["marks"] == "%%" else magic_commands.LINE_MAGICS
        return start, [_match(name, "magic") for name in known if name.startswith(word)]
    if (match := _FROM_IMPORT.search(_logical_line(before))) is not None:
        return start, _from_module(match["module"], word) or _ask_jedi(text, cursor)
    if (match := _IMPORT.match(line) or _FROM.match(line)) is not None:
        parent = match["path"].rpartition(".")[0]
        return start, [_match(name, "module") for name in _submodules(parent) if name.startswith(word)]
    before = before[:len(before) - len(word)]
    if before.rstrip().endswith("."):
        return start, _attributes(names, before.rstrip()[:-1], word) or _ask_jedi(text, cursor)
    return start, [*_keyword_arguments(names, before, word), *_names(names, before, word)]


def _attributes(names, owner, word):
    path = static_lookup.path_at_end(owner)
    if not path:
        return [_described(str, name, True) for name in _visible(dir(str), word)] if owner[-1:] in "'\"" and owner else []
    value = static_lookup.resolve(names, path)
    if value is MISSING or type(value) is property or owner[:-len(path)].endswith((")", ".", "]")):
        return []
    found = _visible(static_lookup.attribute_names(value), word)
    attributes = [_described(value, name, len(found) <= _MAX_SIGNATURES) for name in found]
    # Where a column has the name of an attribute, that is what the name means.
    return [*(_match(name, "instance") for name in _visible(_columns_by_name(value), word)), *attributes]


def _columns_by_name(value):
    """The columns of a frame that can be written as attributes."""
    return (key for key in _columns(value) if type(key) is str and key.isidentifier() and not keyword.iskeyword(key))


def _visible(names, word):
    """Those that begin with the word; names with an underscore are only shown to who has typed one."""
    return _first(name for name in names if name.startswith(word) and (word or not name.startswith("_")))


def _first(names):
    return list(itertools.islice(names, _MAX_CANDIDATES))


def _described(owner, name, with_signature):
    return _of_value(name, static_lookup.attribute(owner, name), with_signature)


def _of_value(name, value, with_signature):
    match = _match(name, static_lookup.kind(value))
    if with_signature and match["type"] in ("function", "class"):
        signature = static_lookup.signature(value)
        if signature is not None:
            match["signature"] = f"{name}{signature}"
    return match


def _names(names, before, word):
    builtin = static_lookup.builtins_of(names)
    found = _visible((name for name in (*names, *(builtin.keys() - names.keys())) if type(name) is str), word)
    matches = [_of_value(name, names[name] if name in names else builtin[name], len(found) <= _MAX_SIGNATURES)
               for name in found]
    known = set(found)
    matches += [_match(name, "instance") for name in _visible(set(_ASSIGNED.findall(before)) - known, word)]
    matches += [_match(name, "keyword") for name in keyword.kwlist if name.startswith(word) and name not in known]
    return matches


def _keyword_arguments(names, before, word):
    function = enclosing_call(before)
    value = static_lookup.resolve(names, function) if function else MISSING
    signature = static_lookup.signature(value) if value is not MISSING else None
    if signature is None or not before.rstrip().endswith(("(", ",")):
        return []
    return [_match(f"{name}=", "param") for name, parameter in signature.parameters.items()
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD) and name.startswith(word)]


def _open_string(line):
    """Where the content of a string begins that is open at the end of the line, or None."""
    quote, start, position = "", None, 0
    while position < len(line):
        character = line[position]
        if quote and character == "\\":
            position += 1
        elif quote and character == quote:
            quote, start = "", None
        elif not quote and character in "'\"":
            quote, start = character, position + 1
        elif not quote and character == "#":
            return None
        position += 1
    return start


def _in_string(names, line, start, cursor):
    content = line[start:]
    before = line[:start - 1]
    if before.endswith("["):
        path = static_lookup.path_at_end(before[:-1])
        value = static_lookup.resolve(names, path) if path else MISSING
        keys = _first(key for key in _keys(value) if type(key) is str and key.startswith(content))
        return cursor - len(content), [_match(key, "key") for key in keys]
    folder, slash, name = content.rpartition("/")
    return cursor - len(name), _paths(folder + slash, name)


def _keys(value):
    return list(dict.keys(value)) if issubclass(type(value), dict) else _columns(value)


def _columns(value):
    # Exactly pandas' own class: reading its columns runs nothing but pandas.
    pandas = sys.modules.get("pandas")
    is_frame = pandas is not None and type(value) is getattr(pandas, "DataFrame", None)
    return list(value.columns) if is_frame else []


def _paths(folder, name):
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as found:
            return [_match(entry.name + "/" * entry.is_dir(), "path") for entry in found
                    if entry.name.startswith(name) and (name or not entry.name.startswith("."))]
    except (OSError, ValueError):
        return []


def _logical_line(before):
    """The last line, with those before it that an open bracket joins to it."""
    head, _, line = before.rpartition("\n")
    opened = before.rfind("(")
    if opened > before.rfind(")") and opened < len(head):
        return before[before.rfind("\n", 0, opened) + 1:]
    return line


def _from_module(module, word):
    loaded = sys.modules.get(module)
    names = dict.fromkeys(_submodules(module), MISSING)
    if loaded is not None:
        names.update((name, static_lookup.attribute(loaded, name)) for name in static_lookup.attribute_names(loaded))
    return [_match(name, "module") if names[name] is MISSING else _of_value(name, names[name], False)
            for name in _visible(names, word)]


def _submodules(parent):
    """The modules that can be imported below a package, or at the top; nothing is imported to know."""
    path = sys.path
    for position, name in enumerate(parent.split(".") if parent else ()):
        loaded = sys.modules.get(".".join(parent.split(".")[:position + 1]))
        spec = getattr(loaded, "__spec__", None) or PathFinder.find_spec(name, path)
        path = getattr(spec, "submodule_search_locations", None)
        if not path:
            break
    names = [*_modules_in(path or ()), *(() if parent else sys.builtin_module_names)]
    # What is loaded without a file of its own, as os.path.
    prefix = f"{parent}." if parent else ""
    return [*names, *(name[len(prefix):] for name in list(sys.modules)
                      if name.startswith(prefix) and "." not in name[len(prefix):])]


def _modules_in(path):
    key = tuple((entry, _changed(entry)) for entry in path if isinstance(entry, str))
    if key not in _modules_of_path:
        if len(_modules_of_path) > 20:
            _modules_of_path.clear()
        _modules_of_path[key] = [module.name for module in pkgutil.iter_modules([entry for entry, _ in key])]
    return _modules_of_path[key]


def _changed(folder):
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def _ask_jedi(text, cursor):
    """What jedi finds in the text alone, for expressions whose value is not there to be looked at."""
    jedi = _warm_jedi()
    if jedi is None or len(text) > _MAX_JEDI_CHARS:
        return []
    try:
        # Not its Interpreter, which looks into the session's objects and runs their properties and __getattr__.
        script = jedi.Script(text, environment=jedi.InterpreterEnvironment())
        line = text.count("\n", 0, cursor) + 1
        column = cursor - (text.rfind("\n", 0, cursor) + 1)
        found = script.complete(line, column)
        return [_match(each.name, each.type) for each in found[:MAX_MATCHES]]
    except Exception:  # confused by what it was given
        return []


def _warm_jedi():
    """jedi, once it is ready. Its first use takes longer than an answer may: that is done beside, and by then None."""
    global _jedi_thread
    if _jedi_thread is None:
        _jedi_thread = threading.Thread(target=_load_jedi, name="jedi", daemon=True)
        _jedi_thread.start()
    return _jedi


def _load_jedi():
    global _jedi
    try:
        import jedi
        jedi.Script("[].", environment=jedi.InterpreterEnvironment()).complete()
        _jedi = jedi
    except Exception:  # not installed, or not of this Python
        pass


def _match(text, kind):
    return {"text": text, "type": kind}


def _rank(match):
    text = match["text"]
    return match["type"] != "param", text.startswith("__"), text.startswith("_"), text.lower(), text
