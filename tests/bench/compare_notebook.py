"""A notebook of a million cells. Next to it is nbformat, which reads it once: that takes half a minute."""
import os
import sys
import tempfile

from compare_options import PROGRAM, scaled
from compare_table import Row, at_most
from notebook_bench import run, run_million, write_million

READ = "import nbformat, sys; nbformat.read(sys.argv[1], 4)"


def notebook():
    count = scaled(1_000_000, 10_000)
    with tempfile.TemporaryDirectory() as folder:
        path = write_million(os.path.join(folder, "million.ipynb"), count)
        size = os.path.getsize(path)
        read = run(sys.executable, "-c", READ, path)
        taken = run_million(PROGRAM, path, count, scaled(3))
    rows = []
    for step, values in taken.items():
        seconds = Row(f"notebook of {count:,} cells: {step}", at_most(2))
        memory = Row("  peak of memory", ("≤ 3 × the file", lambda row: row.median("cellar") <= 3 * size), unit="B")
        rows += [seconds, memory]
        for value in values:
            seconds.add("cellar", value[0])
            memory.add("cellar", value[1])
    rows[0].title += " (ipykernel: nbformat reads it)"
    rows[0].add("ipykernel", read[0])
    rows[1].add("ipykernel", read[1])
    return rows
