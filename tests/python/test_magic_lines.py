import unittest

from cellar_runtime import magic_lines


def found(text):
    return [(line.number, line.kind, line.target, line.name, line.rest) for line in magic_lines.find(text)]


class Lines(unittest.TestCase):
    def test_every_kind(self):
        self.assertEqual(found("!ls -l\nx = !pwd\n%cd /\ny, z = %env A\nname?\n??a.b"), [
            (1, "shell", "", "", "ls -l"), (2, "shell", "x", "", "pwd"), (3, "magic", "", "cd", "/"),
            (4, "magic", "y, z", "env", "A"), (5, "help", "", "?", "name"), (6, "help", "", "??", "a.b")])

    def test_strings_are_left_alone(self):
        for text in ("'''\n!a\n'''", '"""\n%a\n"""', "f('''\n!a''')", "'a\\\n!b'", "x = '''it's\n!a\n'''", "''' \\'''\n!a\n'''"):
            with self.subTest(text):
                self.assertEqual(found(text), [])

    def test_brackets_and_continued_lines_are_left_alone(self):
        for text in ("(1\n% 2)", "x = 1 \\\n% 2", "[\n!a\n]", "f(a='(', b=\n!c)"):
            with self.subTest(text):
                self.assertEqual(found(text), [])

    def test_what_follows_them_is_found(self):
        for text in ("'''a\n'''\n!x", "x = '#('  # ([{\n!x", "(1 +\n 2)\n!x", "x = 'open\n!x", "# a '''\n!x", "'\\''\n!x"):
            with self.subTest(text):
                self.assertEqual([line[1] for line in found(text)], ["shell"])

    def test_a_backslash_continues_a_command(self):
        line, = magic_lines.find("!a \\\n  b\nx = 1")
        self.assertEqual((line.rest, line.count), ("a   b", 2))

    def test_what_only_looks_like_one(self):
        for text in ("x == !y", "f(a=!b)", "a % b", "what is this?", "x = y?", "%%time", "% x", "lambda: !x"):
            with self.subTest(text):
                self.assertEqual(found(text), [])

    def test_cell_magics(self):
        self.assertEqual(magic_lines.cell_magic("\n%%bash -e\nls\n"), ("bash", "-e", 11))
        self.assertEqual(magic_lines.cell_magic("%%time"), ("time", "", 6))
        self.assertIsNone(magic_lines.cell_magic("x\n%%time"))


if __name__ == "__main__":
    unittest.main()
