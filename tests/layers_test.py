"""Whether folders include only what their CMakeLists.txt says they stand on, and whether that has a direction.

The linker does not tell: dependencies are handed on, and a header alone always links.
"""

import graphlib
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).parent.parent
FOLDERS = [f"host/{path.name}" for path in sorted(ROOT.glob("host/*/"))] + ["notebook", "embed"]
TARGET = re.compile(r"(?:cellar_library|add_executable|add_library)\((\w+)")
DEPS = re.compile(r"(?:DEPS|target_link_libraries\(\w+) ([^)]*)\)")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)


def includes(folder):
    """Of every file of the folder: its path, and a path that it includes."""
    for file in sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cc")):
        for included in INCLUDE.findall(file.read_text()):
            yield str(file.relative_to(ROOT)), included


def folder_of(included):
    """The folder of the tree that an include names, if it names one. Users write "cellar/…" for the library's headers."""
    parts = included.split("/")
    if parts[0] == "cellar":
        return "host/library"
    return {"host": "/".join(parts[:2]), "notebook": "notebook", "embed": "embed"}.get(parts[0])


class LayersTest(unittest.TestCase):
    def setUp(self):
        lists = {folder: (ROOT / folder / "CMakeLists.txt").read_text() for folder in FOLDERS}
        folders = {TARGET.search(text)[1]: folder for folder, text in lists.items()}
        self.deps = {folder: {folders[target] for target in DEPS.search(text)[1].split() if target in folders}
                     for folder, text in lists.items()}

    def test_a_folder_includes_itself_and_what_it_depends_on(self):
        wrong = [(file, included) for folder in FOLDERS for file, included in includes(folder)
                 if folder_of(included) not in {None, folder} | self.deps[folder]]
        self.assertEqual(wrong, [])

    def test_dependencies_have_no_cycle(self):
        list(graphlib.TopologicalSorter(self.deps).static_order())

    def test_host_knows_neither_embed_nor_python(self):
        self.assertEqual([folder for folder, deps in self.deps.items() if "embed" in deps], [])
        wrong = [(file, included) for folder in FOLDERS if folder != "embed" for file, included in includes(folder)
                 if included == "Python.h" or included.startswith("pybind11/")]
        self.assertEqual(wrong, [])

    def test_embed_shares_only_base_and_wire_with_the_host(self):
        self.assertEqual(self.deps["embed"], {"host/base", "host/wire"})


if __name__ == "__main__":
    unittest.main()
