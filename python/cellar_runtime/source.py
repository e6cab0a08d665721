"""From the text of a cell to code objects: the last expression apart, top-level await allowed."""
__builtins__ = __import__("builtins").__dict__.copy()

import __future__
import re
from _ast import Expr, Expression, PyCF_ALLOW_TOP_LEVEL_AWAIT, PyCF_ONLY_AST

from cellar_runtime import indented_cell

_COMPILE = compile
_CO_COROUTINE = 0x80
_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag

# What may stand between the end of the last expression and the semicolon that keeps its value quiet.
_SEMICOLON = re.compile(rb"[\s)]*;")


class Program:
    """A compiled cell: `body` and then `value` (either may be None); `quiet` when the value is not to be shown; `awaits`
    when either is to be awaited."""

    __slots__ = ("body", "value", "quiet", "awaits")

    def __init__(self, body, value, quiet):
        self.body = body
        self.value = value
        self.quiet = quiet
        self.awaits = is_coroutine(body) or is_coroutine(value)


class Compiler:
    """Compiles the cells of one session; `from __future__ import …` lasts from cell to cell."""

    def __init__(self):
        self._futures = 0

    def compile(self, name: str, text: str) -> Program:
        """Raises SyntaxError (or ValueError for a NUL) as compile() does."""
        return self.compile_tree(name, text, self.parse(name, text))

    def parse(self, name: str, text: str):
        """The syntax tree of a text, which may be indented as a whole."""
        flags = PyCF_ALLOW_TOP_LEVEL_AWAIT | self._futures | PyCF_ONLY_AST

        def parse_python(source):
            return _COMPILE(source, name, "exec", flags, True)

        try:
            return parse_python(text)
        except SyntaxError:
            tree = indented_cell.parse(text, parse_python)
            if tree is None:
                raise
            return tree

    def compile_tree(self, name: str, text: str, tree) -> Program:
        """`text` is what the tree's places refer to."""
        flags = PyCF_ALLOW_TOP_LEVEL_AWAIT | self._futures
        value, quiet = None, False
        if tree.body and isinstance(tree.body[-1], Expr):
            last = tree.body.pop()
            quiet = ends_in_semicolon(text, last)
            value = _COMPILE(Expression(last.value), name, "eval", flags, True)
        body = _COMPILE(tree, name, "exec", flags, True) if tree.body else None
        if body is not None:
            self._futures |= body.co_flags & _FUTURES
        return Program(body, value, quiet)


def with_plain_newlines(text: str) -> str:
    """The text with one kind of line ends; the compiler counts `\\r\\n` and `\\r` as well."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def is_coroutine(code) -> bool:
    """Whether evaluating `code`, which may be None, gives a coroutine, because it awaits at top level."""
    return code is not None and bool(code.co_flags & _CO_COROUTINE)


def ends_in_semicolon(text: str, node) -> bool:
    """Whether a semicolon after an expression of `text` keeps its value quiet."""
    if ";" not in text:
        return False
    lines = text.encode("utf-8", "surrogatepass").split(b"\n")[node.end_lineno - 1:]
    rest = b"\n".join([lines[0][node.end_col_offset:], *lines[1:]])
    return _SEMICOLON.match(rest) is not None
