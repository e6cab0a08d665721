import os
import subprocess
import sys
import unittest
import unittest.mock

import cellar_prelude
from cellar_prelude import tree
from helpers import HelperTest

module = sys.modules["cellar_prelude.tree"]


class Tree(HelperTest):
    def test_directories_first_then_by_name(self):
        for name in ("b.txt", "A.txt", "z/inner/deep/deeper", "z/x", ".hidden", "new\nline"):
            self.make(name)
        os.symlink("z", self.path("link"))
        self.assertEqual(tree(self.folder).split("\n"), [
            self.folder + "/",
            "├── z/",
            "│   ├── inner/",
            "│   │   └── deep/",
            "│   └── x",
            "├── A.txt",
            "├── b.txt",
            "├── link -> z",
            "└── new\\nline",
        ])
        self.assertEqual((self.events[0]["op"], self.events[0]["entries"]), ("tree", 8))

    def test_depth_and_hidden_files(self):
        self.make("a/b")
        self.make(".git/x")
        self.assertEqual(tree(self.folder, max_depth=1, show_hidden=True).split("\n")[1:], ["├── .git/", "└── a/"])
        self.assertEqual(tree(self.folder, 0), self.folder + "/")

    def test_a_loop_of_links_ends(self):
        os.symlink(".", self.path("again"))
        self.assertEqual(tree(self.folder, 50).split("\n")[1:], ["└── again -> ."])

    def test_directories_nested_deeper_than_calls_are_drawn(self):
        levels = sys.getrecursionlimit() + 100
        # Python's own ways to make and to remove it call themselves.
        subprocess.run(["mkdir", "-p", self.path("/".join("d" * levels))], check=True)
        self.addCleanup(subprocess.run, ["rm", "-r", self.path("d")], check=True)
        self.assertEqual(tree(self.folder, max_depth=levels).count("─ d/"), levels)

    def test_many_entries_are_cut(self):
        for number in range(9):
            self.make(f"{number}/x")
        with unittest.mock.patch.object(module, "MAX_ENTRIES", 5):
            lines = tree(self.folder).split("\n")
        self.assertEqual(lines[-1], "[... stopped after 5 entries ...]")
        self.assertEqual(len(lines), 7)

    def test_bad_arguments(self):
        with self.assertRaises(NotADirectoryError):
            tree(self.make("file"))
        with self.assertRaises(FileNotFoundError):
            tree(self.path("none"))
        with self.assertRaisesRegex(ValueError, "max_depth must be at least 0"):
            tree(self.folder, -1)


class Names(unittest.TestCase):
    def test_every_helper_is_described(self):
        for name, helper in cellar_prelude.names().items():
            self.assertTrue(helper.__doc__, name)


if __name__ == "__main__":
    unittest.main()
