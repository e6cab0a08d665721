"""Cells with `!cmd`, `%magic`, `%%magic` and `name?`, turned into Python. Only asked for when a cell is not Python as it
stands.

Each line that is not Python becomes a call on the same line, so numbers of lines stay right; places within such a line
are widened to all of it, since the user's text is what a traceback shows.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import ast
import io
import itertools
import tokenize

from cellar_runtime import magic_lines
from cellar_runtime.magic_commands import CELL_MAGICS, COMMANDS, LINE_MAGICS, Commands
from cellar_runtime.source import ends_in_semicolon, is_coroutine
from cellar_runtime.timing import split_options

_COMPILE = compile

_commands = None


def compile_cell(compiler, namespace, name: str, text: str):
    """The Program of a cell, or None when it has nothing in it that a magic could be."""
    tree = _Cell(compiler, name, text).tree()
    if tree is None:
        return None
    global _commands
    if _commands is None:
        _commands = Commands(namespace)
    namespace.globals[COMMANDS] = _commands
    return compiler.compile_tree(name, text, tree)


class _Cell:
    """A cell on its way to a syntax tree."""

    def __init__(self, compiler, name, text):
        self._compiler = compiler
        self._name = name
        self._text = text

    def tree(self):
        magic = magic_lines.cell_magic(self._text)
        if magic is None:
            return self._tree_of_lines(self._text)
        name, rest, start = magic
        self._line = self._text[:start].count("\n") + (not self._text[:start].endswith("\n"))
        body = self._text[start:]
        if name not in CELL_MAGICS:
            raise self._error(self._line, _unknown(f"%%{name}", [f"%%{each}" for each in CELL_MAGICS]))
        if name in ("time", "capture"):
            # The same numbers of lines, without the magic's own.
            padded = "\n" * self._line + body
            inside = self._tree_of_lines(padded) or self._compiler.parse(self._name, padded)
            futures = list(itertools.takewhile(_is_future, inside.body))
            del inside.body[:len(futures)]
            tree = self._timed(inside, rest) if name == "time" else self._captured(inside, rest)
            tree.body[:0] = futures
            return tree
        if name == "timeit":
            return self._call(self._timeit(self._line, rest, body))
        return self._call(f"{COMMANDS}.{name}({rest!r}, {body!r})")

    def _tree_of_lines(self, text):
        found = magic_lines.find(text)
        if not found:
            return None
        lines = text.split("\n")
        for line in found:
            lines[line.number - 1] = line.indent + self._python_for(line)
            lines[line.number:line.number + line.count - 1] = [""] * (line.count - 1)
        try:
            tree = self._compiler.parse(self._name, "\n".join(lines))
        except SyntaxError as error:
            error.text = None  # the user's own line is shown
            if any(line.number == error.lineno for line in found):
                error.offset = error.end_offset = None
            raise
        _widen(tree, {line.number: (len(line.indent.encode()), line.number + line.count - 1) for line in found},
               text.split("\n"))
        tree.body = _with_futures_first(tree.body, {line.number for line in found})
        return tree

    def _python_for(self, line):
        if line.kind == "help":
            return f"{COMMANDS}.show({line.rest!r}, {line.name == '??'})"
        if line.kind == "shell":
            call = f"{COMMANDS}.{'captured_shell' if line.target else 'shell'}({line.rest!r})"
        elif line.name == "time":
            call = self._time(line)
        elif line.name == "timeit":
            call = self._timeit(line.number, None, line.rest)
        elif line.name in LINE_MAGICS:
            call = f"{COMMANDS}.{line.name}({line.rest!r})"
        else:
            raise self._error(line.number, _unknown(f"%{line.name}", [f"%{each}" for each in LINE_MAGICS]))
        return f"{line.target} = {call}" if line.target else call

    def _time(self, line):
        code = line.rest
        if not code:
            raise self._error(line.number, "%time needs something to run; %%time takes a whole cell")
        if self._parses(code, "eval"):
            return f"{COMMANDS}.stop({COMMANDS}.start(), ({_without_comment(code)}))"
        statement = f"with {COMMANDS}.timer(): {code}"
        if line.target or not self._parses(statement, "exec"):
            raise self._error(line.number, "%time takes an expression or a simple statement; use %%time")
        return statement

    def _timeit(self, line, setup, code):
        """`setup` is None for a magic of one line."""
        try:
            measured = split_options(code)[1] if setup is None else code
            if not measured.strip():
                raise ValueError("there is nothing to measure")
            is_awaiting = self._awaits(measured)
        except (SyntaxError, ValueError) as error:
            raise self._error(line, f"%timeit: {getattr(error, 'msg', error)}") from None
        call = f"{COMMANDS}.timeit({self._name!r}, {line}, {setup!r}, {code!r}, {is_awaiting})"
        return f"await {call}" if is_awaiting else call

    def _awaits(self, code):
        tree = self._compiler.parse(self._name, code)
        return is_coroutine(_COMPILE(tree, self._name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, True))

    def _parses(self, code, mode):
        try:
            _COMPILE(code, self._name, mode, ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST, True)
        except (SyntaxError, ValueError):
            return False
        return True

    def _call(self, code):
        """The tree of one call in the place of the whole cell."""
        tree = self._compiler.parse(self._name, code)
        for node in ast.walk(tree):
            if hasattr(node, "lineno"):
                node.lineno = node.end_lineno = self._line
                node.col_offset, node.end_col_offset = 0, len(self._text.split("\n")[self._line - 1].encode())
        return tree

    def _timed(self, inside, rest):
        if rest:
            raise self._error(self._line, "%%time takes nothing on its own line")
        start, stop = self._call(f"{COMMANDS}.start_cell()\n{COMMANDS}.stop_cell(None)").body
        last = inside.body[-1] if inside.body else None
        if isinstance(last, ast.Expr):
            _wrap(last, stop.value)
            inside.body.insert(0, start)
        else:
            inside.body = [start, *inside.body, stop]
        return inside

    def _captured(self, inside, rest):
        options = [word for word in rest.split() if word.startswith("-")]
        names = [word for word in rest.split() if not word.startswith("-")]
        if len(names) > 1 or names and not names[0].isidentifier():
            raise self._error(self._line, "%%capture takes one name for what is captured")
        bound = f" as {names[0]}" if names else ""
        tree = self._call(f"with {COMMANDS}.capture({options!r}){bound}: {COMMANDS}.show_value(None)")
        scope = tree.body[0]
        last = inside.body[-1] if inside.body else None
        if isinstance(last, ast.Expr) and not ends_in_semicolon(self._text, last):
            _wrap(last, scope.body[0].value)
        scope.body = inside.body or scope.body
        return tree

    def _error(self, line, message):
        return SyntaxError(message, (self._name, line, 1, self._text.split("\n")[line - 1]))


def _wrap(statement, call):
    """Has a call take the value of an expression statement."""
    call.args = [statement.value]
    statement.value = ast.copy_location(call, statement.value)


def _with_futures_first(body, magics):
    """Magics may stand above `from __future__ import …`, but the calls that they become may not."""
    top = list(itertools.takewhile(lambda each: _is_future(each) or each.lineno in magics, body))
    return sorted(top, key=lambda each: not _is_future(each)) + body[len(top):]


def _is_future(statement):
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _without_comment(expression):
    """One line that is to stand in brackets."""
    for token in tokenize.generate_tokens(io.StringIO(expression).readline):
        if token.type == tokenize.COMMENT:
            return expression[:token.start[1]]
    return expression


def _widen(tree, rewritten, lines):
    for node in ast.walk(tree):
        place = rewritten.get(getattr(node, "lineno", 0))
        if place is not None:
            node.col_offset, node.end_lineno = place
            node.end_col_offset = len(lines[node.end_lineno - 1].encode())


def _unknown(name, known):
    return f"there is no magic {name}; there are: {', '.join(sorted(known))}"
