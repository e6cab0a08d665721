"""Notebooks that cellar edited or ran are as valid as they were: checked by nbformat itself.

usage: nbformat_test.py CELLAR

Takes a few notebooks made here, and those in the folder CELLAR_CORPUS_DIR names, if it is set, that nbformat finds
valid; edits, inserts into, deletes from, runs and converts a copy of each; and has nbformat validate what came out.
"""

import os
import subprocess
import sys
import tempfile
import warnings

import nbformat

SAMPLED = 4  # every fourth notebook of the corpus: nbformat is slow
RUN_SOURCE = """print("é"); display({"a": [1]}, display_id="x"); update_display("y", display_id="x"); p + 1"""
warnings.simplefilter("ignore")


def is_valid(path):
    try:
        with open(path, encoding="utf-8") as file:
            notebook = nbformat.reads(file.read(), as_version=nbformat.NO_CONVERT)
        nbformat.validate(notebook, relax_add_props=False)
        if notebook.nbformat_minor >= 5 and notebook.nbformat == 4:
            return all("id" in cell for cell in notebook.cells)
        return True
    except Exception:
        return False


def made_notebooks(folder):
    for minor in (0, 4, 5):
        path = os.path.join(folder, f"made{minor}.ipynb")
        notebook = nbformat.v4.new_notebook(nbformat_minor=minor)
        for cell in (nbformat.v4.new_code_cell("x = 1\ny"), nbformat.v4.new_markdown_cell("# T")):
            if minor < 5:
                del cell["id"]
            notebook.cells.append(cell)
        with open(path, "w", encoding="utf-8") as file:
            file.write(nbformat.v4.writes(notebook))
        yield path


def steps(path, script, back):
    yield ["insert", path, "0", "--source", "c"]
    yield ["edit", path, "0", "--source", "a = 1\nb"]
    yield ["insert", path, "1", "--type", "markdown", "--source", "# d"]
    yield ["edit", path, "1", "--type", "code", "--source", "e"]
    yield ["edit", path, "0", "--type", "raw", "--source", "f"]
    yield ["delete", path, "1"]
    yield ["clear", path]
    yield ["insert", path, "0", "--source", RUN_SOURCE]
    yield ["run", path, "--cell", "0", "--param", "p=1"]
    yield ["convert", path, script, "--force"]
    yield ["convert", script, back]


def is_read(cellar, path):
    return subprocess.run([cellar, "notebook", "show", path], capture_output=True, check=False).returncode == 0


def check(cellar, source, folder):
    path, script, back = (os.path.join(folder, name) for name in ("a.ipynb", "a.py", "b.ipynb"))
    with open(source, "rb") as old, open(path, "wb") as copy:
        copy.write(old.read())
    if os.path.exists(back):
        os.remove(back)
    failures = []
    for step in steps(path, script, back):
        ran = subprocess.run([cellar, "notebook", *step], capture_output=True, text=True, check=False)
        written = step[2] if step[0] == "convert" else path
        if step[0] == "run" and "cellar runs Python" in ran.stderr:
            continue
        if ran.returncode != 0:
            failures.append(f"{source}: {step[0]}: {ran.stderr.strip()}")
        elif written.endswith(".ipynb") and not is_valid(written):
            failures.append(f"{source}: not valid after {step[0]}")
    return failures


def main():
    cellar = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        sources = list(made_notebooks(folder))
        if corpus := os.environ.get("CELLAR_CORPUS_DIR"):
            names = sorted(name for name in os.listdir(corpus) if name.endswith(".ipynb"))
            sources += [os.path.join(corpus, name) for name in names[::SAMPLED]]
        failures = []
        checked = 0
        for source in sources:
            if is_valid(source) and is_read(cellar, source):
                checked += 1
                failures += check(cellar, source, folder)
        print(f"{checked} notebooks checked, {len(failures)} failures")
        print("\n".join(failures))
        return 1 if failures or checked < len(sources) / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
