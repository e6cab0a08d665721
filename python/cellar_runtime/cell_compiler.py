"""From the text of a cell to its Program, and all that is remembered of the text. Cells that are no Python may have magics
in them."""
__builtins__ = __import__("builtins").__dict__.copy()

import _cellar
from cellar_runtime import cell_sources, late_import
from cellar_runtime.source import Compiler, Program, with_plain_newlines

_guarded = _cellar.guarded


class CellCompiler:
    def __init__(self, namespace, integrity):
        self._namespace = namespace
        self._integrity = integrity
        self._compiler = Compiler()

    def compile(self, cell: int, text: str) -> Program:
        """Raises SyntaxError and ValueError as compile() does."""
        name = f"<cell {cell}>"
        text = with_plain_newlines(text)
        self._namespace.remember_input(cell, text)
        cell_sources.register(name, text)
        return _guarded(self._compile_text, name, text)

    def check(self) -> None:
        """Raises where no cell could be compiled."""
        text = with_plain_newlines("0\r\n0")
        cell_sources.check(text)
        _guarded(self._compiler.compile, "<check>", text)

    def forget(self) -> None:
        """As before the first cell."""
        self._compiler = Compiler()
        cell_sources.forget()

    def _compile_text(self, name, text):
        # Python first: most cells have no magics, and the modules that know them are loaded by the first one that has.
        try:
            return self._compiler.compile(name, text)
        except SyntaxError:
            program = self._compile_magics(name, text)
            if program is None:
                raise
            return program

    def _compile_magics(self, name, text):
        for is_last in (False, True):
            try:
                magics = late_import.load("cellar_runtime.magics")
                return magics.compile_cell(self._compiler, self._namespace, name, text)
            except SyntaxError:
                raise
            except Exception:
                if is_last or not self._integrity.restore_for_magics():
                    raise
