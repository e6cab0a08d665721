"""Measures `cellar notebook` next to nbformat, jupytext (where it is installed) and nbclient, in alternation.

usage: notebook_bench.py BIN_DIR [--quick]

Prints lines "name value unit"; table.py --notebooks knows the bars. The notebooks are those of the folder
CELLAR_CORPUS_DIR, or a few made here.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings

import nbformat

try:
    import jupytext
except ImportError:
    jupytext = None

warnings.simplefilter("ignore")
PYTHON = sys.executable
NBCLIENT = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], 4)
NotebookClient(notebook, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[1])
"""


def code_cell(source, outputs=()):
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": list(outputs), "source": [source]}


def write_notebook(path, cells):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}, file, indent=1)
        file.write("\n")
    return path


def write_million(path, count):
    """A notebook of that many cells, written without holding it."""
    cell = '{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["x = %d"]}'
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"cells": [\n' + cell % 0)
        file.writelines(",\n" + cell % i for i in range(1, count))
        file.write('\n], "metadata": {}, "nbformat": 4, "nbformat_minor": 4}\n')
    return path


def corpus(folder):
    """Paths of notebooks that nbformat reads too: both sides have the same work."""
    given = os.environ.get("CELLAR_CORPUS_DIR")
    if not given:
        stream = {"name": "stdout", "output_type": "stream", "text": ["a line of output\n"] * 200}
        return [write_notebook(os.path.join(folder, f"made{i}.ipynb"), [code_cell("x = 1\n", [stream])] * 50)
                for i in range(20)]
    names = sorted(name for name in os.listdir(given) if name.endswith(".ipynb"))
    return [path for path in (os.path.join(given, name) for name in names) if nbformat_seconds(path) is not None]


def nbformat_seconds(path, library=nbformat):
    """Processor time of a read and a write in memory; None if the file is no notebook to nbformat."""
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    begin = time.process_time()
    try:
        if library is nbformat:
            nbformat.writes(nbformat.reads(text, as_version=4))
        else:
            library.writes(nbformat.reads(text, as_version=4), fmt="py:percent")
    except Exception:
        return None
    return time.process_time() - begin


def sum_seconds(files, library):
    return sum(nbformat_seconds(path, library) or 0 for path in files)


def run(*command, text=os.devnull):
    """(seconds, peak of memory in bytes, seconds of processor time) of a program. The peak is never less than what this process has."""
    begin = time.perf_counter()
    with open(text, "rb") as stdin, subprocess.Popen(command, stdin=stdin, stdout=subprocess.DEVNULL,
                                                     stderr=subprocess.PIPE) as process:
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"notebook_bench: {command}: {errors.decode()}")
    return time.perf_counter() - begin, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime


def show(name, values, unit="s"):
    print(f"{name}/median {statistics.median(values)} {unit}" if len(values) > 1 else f"{name} {values[0]} {unit}",
          flush=True)


def measure_corpus(bench, cellar, files, rounds):
    ours, peers = {}, {"corpus_nbformat": [], "show": [], "show_nbformat": []}
    if jupytext:
        peers["corpus_jupytext"] = []
    for _ in range(rounds):
        lines = subprocess.run([bench, *files], capture_output=True, text=True, check=True).stdout
        for line in lines.splitlines():
            name, value, _ = line.split()
            ours.setdefault(name, []).append(float(value))
        peers["corpus_nbformat"].append(sum_seconds(files, nbformat))
        if jupytext:
            peers["corpus_jupytext"].append(sum_seconds(files, jupytext))
        path = files[len(files) // 2]
        peers["show"].append(run(cellar, "notebook", "show", path)[0])
        peers["show_nbformat"].append(run(PYTHON, "-c", "import nbformat, sys; nbformat.read(sys.argv[1], 4)", path)[0])
    for name, values in {**ours, **peers}.items():
        show(name, values)


def measure_million(cellar, folder, count, rounds):
    path = write_million(os.path.join(folder, "million.ipynb"), count)
    print(f"million_size {os.path.getsize(path)} B")
    for step, values in run_million(cellar, path, count, rounds).items():
        seconds, memory, cpu = zip(*values)
        show(f"million_{step}", seconds)
        show(f"million_{step}_cpu", cpu)
        show(f"million_{step}_memory", memory, "B")


def run_million(cellar, path, count, rounds):
    """What each step took, round for round."""
    text = path + ".txt"
    with open(text, "wb") as file:
        subprocess.run([cellar, "notebook", "show", path], stdout=file, check=True)
        file.write(b"# %% [code]\nlast = 1\n")
    taken = {"show": [], "edit": [], "apply": []}
    for i in range(rounds):
        taken["show"].append(run(cellar, "notebook", "show", path))
        taken["edit"].append(run(cellar, "notebook", "edit", path, str(count // 2), "--source", f"y = {i}"))
        taken["apply"].append(run(cellar, "notebook", "apply", path, text=text))
    return taken


def measure_runs(cellar, folder, cells, rounds):
    small = [code_cell(f"x = {i}") for i in range(cells)]
    padding = {"name": "stdout", "output_type": "stream", "text": ["x" * 99 + "\n"] * 1000}
    markdown = {"cell_type": "markdown", "metadata": {}, "source": ["y" * 99 + "\n"] * 1000}
    paths = {name: os.path.join(folder, f"{name}.ipynb") for name in ("run", "run_large", "run_nbclient")}
    taken = {name: [] for name in paths}
    for _ in range(rounds):
        write_notebook(paths["run"], small)
        write_notebook(paths["run_nbclient"], small)
        write_notebook(paths["run_large"], [part for cell in small for part in ({**cell, "outputs": [padding]}, markdown)])
        for name in ("run", "run_large"):
            taken[name].append(run(cellar, "notebook", "run", paths[name])[0])
        taken["run_nbclient"].append(run(PYTHON, "-c", NBCLIENT, paths["run_nbclient"])[0])
    for name, values in taken.items():
        show(name, values)


def main():
    quick = "--quick" in sys.argv[2:]
    cellar, bench = (os.path.join(sys.argv[1], name) for name in ("cellar", "notebook_bench"))
    print(f"load_before {os.getloadavg()[0]} -")
    with tempfile.TemporaryDirectory() as folder:
        files = corpus(folder)
        measure_corpus(bench, cellar, files[:10] if quick else files, 1 if quick else 5)
        measure_million(cellar, folder, 10_000 if quick else 1_000_000, 1 if quick else 5)
        measure_runs(cellar, folder, 5 if quick else 100, 1 if quick else 7)
    print(f"load_after {os.getloadavg()[0]} -")


if __name__ == "__main__":
    main()
