"""What must hold for every notebook there is, checked with the program itself: each step is a process of its own.

usage: corpus_program_test.py CELLAR [--all]

Takes the notebooks in the folder CELLAR_CORPUS_DIR names, each as it is and as an edited copy. Of each notebook's cells a
few are tried; --all tries every one, which takes many minutes.
"""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

CELLS_TRIED = 2
STEP_LIMIT_S = 30
JOBS = 2


class Notebook:
    """One file under test, in a folder of its own."""

    def __init__(self, cellar, folder, content):
        self.cellar = cellar
        self.path = os.path.join(folder, "a.ipynb")
        self.script = os.path.join(folder, "a.py")
        self.back = os.path.join(folder, "b.ipynb")
        self.write(content)

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)

    def read(self):
        with open(self.path, "rb") as file:
            return file.read()

    def run(self, *args, text=None):
        """The finished process; a signal, an exit code that is not documented or a time-out is a failure."""
        ran = subprocess.run([self.cellar, "notebook", *args], input=text, capture_output=True, timeout=STEP_LIMIT_S,
                             check=False)
        if ran.returncode not in (0, 2):
            raise AssertionError(f"{args[0]}: exit code {ran.returncode}: {ran.stderr.decode()}")
        return ran

    def must(self, *args, text=None):
        ran = self.run(*args, text=text)
        if ran.returncode != 0:
            raise AssertionError(f"{args[0]}: {ran.stderr.decode().strip()}")
        return ran.stdout

    def show(self, path=None):
        return self.must("show", path or self.path)

    def cells(self):
        """The cells as Python's own reader has them."""
        notebook = json.loads(self.read().decode("utf-8-sig"))
        sheets = [notebook] if "cells" in notebook else notebook.get("worksheets", [])
        return [cell for sheet in sheets for cell in sheet.get("cells", [])]


def source_of(cell):
    source = cell.get("source", cell.get("input", ""))
    return source if isinstance(source, str) else "".join(source)


def tried(count, everything):
    if everything or count <= CELLS_TRIED:
        return range(count)
    return [0, count - 1]


def check_nothing_is_written(notebook):
    before, inode = notebook.read(), os.stat(notebook.path).st_ino
    text = notebook.show()
    assert notebook.must("apply", notebook.path, text=text) == b"nothing to change\n", "show, apply: a change"
    with_outputs = notebook.must("show", "--outputs", notebook.path)
    notebook.must("apply", notebook.path, text=with_outputs)
    assert notebook.read() == before, "show, apply: other bytes"
    assert os.stat(notebook.path).st_ino == inode, "show, apply: written"


def check_own_source(notebook, everything):
    before = notebook.read()
    cells = notebook.cells()
    if any("input" in cell for cell in cells):
        return  # an old format, whose lines are joined by newlines or not: what the source is, is not clear from here
    for index in tried(len(cells), everything):
        notebook.must("edit", notebook.path, str(index), "--source", source_of(cells[index]))
        assert notebook.read() == before, f"cell {index}: its own source put back changed the file"


def check_edit(notebook, everything):
    before, cells = notebook.read(), notebook.cells()
    for index in tried(len(cells), everything):
        notebook.must("edit", notebook.path, str(index), "--source", "first <b> \"é\"\nlast")
        for other, (old, new) in enumerate(zip(cells, notebook.cells(), strict=True)):
            if other != index:
                assert old == new, f"edit of cell {index} changed cell {other}"
                continue
            assert source_of(new) == "first <b> \"é\"\nlast", f"edit of cell {index} is not there"
            for key in set(old) | set(new):
                if key not in ("source", "input", "outputs"):
                    assert old.get(key) == new.get(key) or (key not in old and new[key] in (None, [])), key
        notebook.write(before)


def check_conversion(notebook):
    text = notebook.show()
    notebook.must("convert", notebook.path, notebook.script, "--force")
    if os.path.exists(notebook.back):
        os.remove(notebook.back)
    notebook.must("convert", notebook.script, notebook.back)
    assert notebook.show(notebook.back) == text, "convert and back: other text"
    before = notebook.read()
    notebook.must("convert", notebook.script, notebook.path)
    assert notebook.read() == before, "convert back into the notebook: other bytes"


def check(cellar, source, everything):
    """The failures of one notebook; None if it is not one."""
    with open(source, "rb") as file:
        content = file.read()
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        notebook = Notebook(cellar, folder, content)
        try:
            if notebook.run("show", notebook.path).returncode != 0:
                return None
            for edited in (False, True):
                if edited:
                    if not notebook.cells():
                        break
                    notebook.must("insert", notebook.path, "0", "--source", "x = 1\n# é", text=b"")
                    notebook.must("edit", notebook.path, str(len(notebook.cells()) - 1), "--source", "y\n\nz")
                check_nothing_is_written(notebook)
                check_own_source(notebook, everything)
                check_edit(notebook, everything)
                check_conversion(notebook)
        except (AssertionError, subprocess.TimeoutExpired, ValueError) as error:
            failures.append(f"{source}: {error}")
    return failures


def main():
    corpus = os.environ.get("CELLAR_CORPUS_DIR")
    if not corpus:
        print("CELLAR_CORPUS_DIR is not set: nothing to check")
        return 77
    everything = "--all" in sys.argv[2:]
    sources = sorted(os.path.join(corpus, name) for name in os.listdir(corpus) if name.endswith(".ipynb"))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(lambda source: check(sys.argv[1], source, everything), sources))
    checked = [result for result in results if result is not None]
    failures = [failure for result in checked for failure in result]
    print(f"{len(checked)} of {len(sources)} are notebooks, {len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures or len(checked) < 0.9 * len(sources) else 0


if __name__ == "__main__":
    sys.exit(main())
