"""Whether a text is a whole cell, for prompts that ask after each line."""
__builtins__ = __import__("builtins").__dict__.copy()

import ast
import codeop
import re
import warnings

from cellar_runtime import indented_cell, magic_lines
from cellar_runtime.source import with_plain_newlines

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST | codeop.PyCF_ALLOW_INCOMPLETE_INPUT
_INDENT = "    "
_ENDS_IN_BLANK_LINE = re.compile(r"\n[ \t]*\n\Z")
_LEAVES = re.compile(r"\s*(?:return|pass|raise|break|continue)\b")


def is_complete(text: str) -> dict:
    """`status`: complete, incomplete or invalid; for incomplete ones `indent`, what the next line should begin with."""
    text = with_plain_newlines(text)
    if magic_lines.cell_magic(text) is not None:
        return _status(text, _ENDS_IN_BLANK_LINE.search(text) is not None)
    if text.endswith("\\") and _ends_in_magic(text):
        return _status(text, False)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            block = indented_cell.as_block(magic_lines.without_magics(text))
            compile(block, "<input>", "exec", _FLAGS, True)
    except SyntaxError as error:
        return _status(text, False) if "incomplete input" in str(error) else {"status": "invalid", "indent": ""}
    except (ValueError, OverflowError, MemoryError, RecursionError):
        return {"status": "invalid", "indent": ""}
    # A block may go on until a blank line ends it.
    last = text.rstrip().rpartition("\n")[2]
    is_open_block = last[:1] in " \t" and not text.endswith(("\n\n", "\n")) and "\n" in text.strip()
    return _status(text, not is_open_block)


def _ends_in_magic(text):
    found = magic_lines.find(text)
    return bool(found) and found[-1].number + found[-1].count - 1 == text.count("\n") + 1


def _status(text, is_whole):
    if is_whole:
        return {"status": "complete", "indent": ""}
    last = text.rstrip().rpartition("\n")[2]
    indent = last[:len(last) - len(last.lstrip())]
    if last.endswith(":"):
        indent += _INDENT
    elif _LEAVES.match(last):
        indent = indent[:-len(_INDENT)]
    return {"status": "incomplete", "indent": indent}
