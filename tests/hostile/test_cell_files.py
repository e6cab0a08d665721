"""The reader of cells/ takes what its README allows, and nothing else; cell_files_test.cc has the same for the other."""
import os
import tempfile
import unittest

from cell_files import HostileCell, read_cell_files


def read(text):
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "some.py"), "w") as file:
            file.write(text)
        return read_cell_files(directory)


class CellFiles(unittest.TestCase):
    def test_reads_every_field(self):
        cells = read("""# What they have in common.

# %% Plain | completes
first

third

# %% Full | any ending | says "a|b" | time-out 300 ms | kill -9 after 20 ms | forgets names | ends keeper
pass
# %% Long | dies | repeats "x\\n" 3 times
ax
x
""")
        self.assertEqual(cells, [
            HostileCell("Plain", "first\n\nthird"),
            HostileCell("Full", "pass", timeout=0.3, killed_after=0.02, forgets_names=True),
            HostileCell("Long", "ax\nx\nx\nx")])

    def test_anything_else_is_an_error(self):
        for text in ("# %%\n1", "# %% Name\n1", "# %% Name | explodes\n1", "# %% Name | dies | time-out 3 s\n1",
                     "# %% Name | dies | ends keeper | forgets names\n1", "# %% Name | dies \n1", "# %% Name | dies\n\n",
                     "1\n# %% Name | dies\n1", '# %% Name | dies | repeats "x" 2 times\ny',
                     "# %% Name | dies\n1\n# %% Name | fails\n2"):
            with self.subTest(text), self.assertRaises(ValueError):
                read(text)

    def test_all_of_ours_are_read(self):
        self.assertGreater(len(read_cell_files()), 150)


if __name__ == "__main__":
    unittest.main()
