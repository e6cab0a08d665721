"""Cells that are indented as a whole, as code is that was cut out of a function. A text whose first statement is indented
is Python in no other way.

Nothing is taken off: the text becomes the body of an `if`, so what its strings hold and where everything stands is as the
user has it.
"""
__builtins__ = __import__("builtins").__dict__.copy()

import ast
import re

_increment_lineno = ast.increment_lineno
_HEAD = "if 1:\n"
_FIRST_STATEMENT_INDENTED = re.compile(r"(?:[ \t\f]*(?:#[^\n]*)?\n)*[ \t]+[^\s#]")
_LINE_IN_MESSAGE = re.compile(r"(?<=\bline )\d+")


def as_block(text: str) -> str:
    """The text, one line further down if it is indented."""
    return _HEAD + text if _FIRST_STATEMENT_INDENTED.match(text) else text


def parse(text: str, parse_python):
    """The syntax tree, made by a function that gives the tree of Python; None if the text is not indented as a whole."""
    block = as_block(text)
    if block is text:
        return None
    try:
        tree = parse_python(block)
    except SyntaxError as error:
        _move_up(error)
        raise
    head = tree.body[0]
    if len(tree.body) > 1 or head.orelse:
        return None
    tree.body = head.body
    return _increment_lineno(tree, -1)


def _move_up(error):
    error.msg = _LINE_IN_MESSAGE.sub(lambda number: str(int(number[0]) - 1), error.msg)
    if error.lineno:  # of a NUL it is not known
        error.lineno -= 1
    if error.end_lineno:
        error.end_lineno -= 1
