import unittest

from cellar_runtime.stdin import Stdin, StdinNotAvailable


class StdinTest(unittest.TestCase):
    def stdin(self, *lines):
        lines = list(lines)
        stdin = Stdin()
        stdin.ask = lambda hidden: lines.pop(0) if lines else ""
        return stdin

    def test_closing_it_leaves_it_open(self):
        for close in (lambda stdin: stdin.close(), lambda stdin: stdin.buffer.close(), lambda stdin: stdin.__exit__()):
            stdin = self.stdin("a\n", "b\n")
            close(stdin)
            self.assertEqual(list(stdin), ["a\n", "b\n"])
            with self.assertRaises(StdinNotAvailable):
                list(Stdin())

    def test_lines_and_characters(self):
        stdin = self.stdin("äöü\n", "rest")
        self.assertEqual((stdin.read(0), stdin.read(2), stdin.readline(1), stdin.readline(), stdin.read()),
                         ("", "äö", "ü", "\n", "rest"))

    def test_bytes_are_counted_as_bytes(self):
        buffer = self.stdin("äöü\n", "rest").buffer
        self.assertEqual((buffer.read(3), buffer.read1(2), buffer.readline(), buffer.read1(), buffer.read()),
                         ("äö".encode()[:3], "ö".encode()[1:] + "ü".encode()[:1], "ü".encode()[1:] + b"\n", b"rest", b""))

    def test_text_and_bytes_are_of_one_stream(self):
        stdin = self.stdin("abc\n", "d\n")
        self.assertEqual((stdin.read(1), stdin.buffer.read(1), stdin.readline(), stdin.buffer.readline()),
                         ("a", b"b", "c\n", b"d\n"))

    def test_the_rest_of_a_line_is_not_for_the_next_cell(self):
        stdin = self.stdin("ab\n", "c\n")
        stdin.read(1)
        stdin.renew()
        self.assertEqual(stdin.readline(), "c\n")


if __name__ == "__main__":
    unittest.main()
