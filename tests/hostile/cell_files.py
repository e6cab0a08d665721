"""Reads hostile cells: those of cells/, whose README says how they are written, and files of JSON lines."""
import dataclasses
import glob
import json
import os
import re

CELLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cells")
MARK = "# %%"
# The same as in cell_files.cc.
HEADER = re.compile(r'# %% ([\w.-]+) \| (completes|fails|interrupted|killed|dies|any ending)'
                    r'(?: \| says ("(?:[^"\\]|\\.)+"))?(?: \| time-out (\d{1,9}) ms)?'
                    r'(?: \| kill -9 after (\d{1,9}) ms)?( \| forgets names)?( \| ends keeper)?'
                    r'(?: \| repeats ("(?:[^"\\]|\\.)+") ([1-9]\d{0,8}) times)?', re.ASCII)


@dataclasses.dataclass
class HostileCell:
    """What one who runs it must know. Times in seconds."""
    name: str
    code: str
    timeout: float = 10
    killed_after: float | None = None
    forgets_names: bool = False


def read_cell_files(directory=CELLS):
    cells = {}
    for path in sorted(glob.glob(os.path.join(directory, "*.py"))):
        with open(path, encoding="utf-8") as file:
            comments, *texts = re.split(f"^(?={MARK})", file.read(), flags=re.MULTILINE)
        if any(line and not line.startswith("#") for line in comments.split("\n")):
            raise ValueError(f"code before the first header of {path}")
        for cell in map(parse_cell, texts):
            if cell.name in cells:
                raise ValueError(f"two cells are called {cell.name}")
            cells[cell.name] = cell
    return list(cells.values())


def parse_cell(text):
    header, _, code = text.partition("\n")
    fields = HEADER.fullmatch(header)
    if not fields:
        raise ValueError(f"no header of a cell: {header}")
    name, _, _, timeout, killed_after, forgets_names, _, repeated, times = fields.groups()
    cell = HostileCell(name, code.rstrip("\n"), forgets_names=bool(forgets_names))
    if not cell.code:
        raise ValueError(f"{name} has no code")
    if timeout:
        cell.timeout = int(timeout) / 1000
    if killed_after:
        cell.killed_after = int(killed_after) / 1000
    if repeated:
        text = json.loads(repeated)
        if text not in cell.code:
            raise ValueError(f"{name} has nothing to repeat")
        cell.code = cell.code.replace(text, text * int(times), 1)
    return cell


def read_json_cells(path):
    """One JSON object a line: `id`, `code`, `timeout` in seconds; `act` "kill9" for a kill from outside. Those whose code
    has half of a surrogate pair are left out: ipykernel's client does not send them."""
    cells = []
    with open(path, encoding="utf-8") as file:
        for fields in map(json.loads, file):
            if any("\ud800" <= character <= "\udfff" for character in fields["code"]):
                continue
            cells.append(HostileCell(fields["id"], fields["code"], fields["timeout"],
                                     killed_after=1 if fields.get("act") == "kill9" else None,
                                     forgets_names="globals().clear()" in fields["code"]))
    return cells
