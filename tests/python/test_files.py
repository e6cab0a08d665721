import os
import unittest
import unittest.mock

from cellar_prelude import append, diff, files, read, write
from helpers import HelperTest


class Read(HelperTest):
    def test_a_whole_file_as_it_is(self):
        path = self.make("a.txt", "eins\r\nzwei ü\n".encode())
        self.assertEqual(read(path), "eins\r\nzwei ü\n")
        self.assertEqual(self.events, [{"op": "read", "path": path, "chars": 13, "preview": "eins\r\nzwei ü\n"}])

    def test_ranges_are_lines_from_1(self):
        path = self.make("a.txt", b"1\n2\n3\n4")
        self.assertEqual(read(path, 2, 2), "2\n3\n")
        self.assertEqual(read(path, offset=4), "4")
        self.assertEqual(read(path, limit=1), "1\n")
        self.assertEqual(read(path, limit=0), "")
        self.assertEqual(read(path, offset=9), "")

    def test_bad_arguments(self):
        path = self.make("a.txt")
        for arguments, error in [
            ((path, 0), "offset must be at least 1, not 0"),
            ((path, 1, -1), "limit must be at least 0, not -1"),
            ((path, "1"), "offset must be an integer, not str"),
            ((path, True), "offset must be an integer, not bool"),
            ((3,), "needs a path, not int"),
            (("",), "needs a path, not an empty string"),
            (("a\0b",), "cannot contain NUL"),
        ]:
            with self.subTest(error), self.assertRaisesRegex((TypeError, ValueError), error):
                read(*arguments)

    def test_what_is_not_text_is_said(self):
        with self.assertRaisesRegex(ValueError, "b.bin is a binary file of 4 bytes"):
            read(self.make("b.bin", b"a\0bc"))
        with self.assertRaisesRegex(ValueError, "not UTF-8 text .byte 0xe4 at 1"):
            read(self.make("latin", b"k\xe4se"))
        with self.assertRaisesRegex(IsADirectoryError, "Is a directory"):
            read(self.folder)
        os.mkfifo(self.path("pipe"))
        with self.assertRaisesRegex(ValueError, "not a regular file"):
            read(self.path("pipe"))
        with self.assertRaises(FileNotFoundError):
            read(self.path("none"))

    def test_a_huge_file_is_read_by_lines_only(self):
        path = self.make("huge", b"0123456789\n" * 20)
        with unittest.mock.patch.object(files, "MAX_BYTES", 50):
            with self.assertRaisesRegex(ValueError, "the file has 220 bytes.*offset and limit"):
                read(path)
            self.assertEqual(read(path, 20, 1), "0123456789\n")
            with self.assertRaisesRegex(ValueError, "more than"):
                read(path, 2)
            with self.assertRaisesRegex(ValueError, "more than"):
                read(self.make("one line", b"x" * 60), 1, 1)

    def test_files_without_a_size_are_read(self):
        self.assertIn("Name:", read("/proc/self/status"))


class Write(HelperTest):
    def test_makes_parents_and_returns_the_resolved_path(self):
        os.symlink(self.folder, self.path("link"))
        path = write(self.path("link/a/b.txt"), "ü\r\n")
        self.assertEqual(path, self.path("a/b.txt"))
        append(path, b"\x00")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), "ü\r\n".encode() + b"\0")
        self.assertEqual([(event["op"], event["chars"]) for event in self.events], [("write", 3), ("append", 1)])

    def test_append_makes_the_file(self):
        append(self.path("new"), "x")
        self.assertEqual(read(self.path("new")), "x")

    def test_the_name_of_a_directory_makes_no_file(self):
        for helper in (write, append):
            with self.assertRaisesRegex(IsADirectoryError, rf"{helper.__name__}\(\) needs a file, not a directory: '.*/out/'"):
                helper(self.path("out/"), "x")
        self.assertFalse(os.path.exists(self.path("out")))

    def test_content_that_cannot_be_written_leaves_the_file_alone(self):
        path = self.make("keep", b"old")
        with self.assertRaisesRegex(TypeError, "write.. needs text or bytes, not dict"):
            write(path, {})
        with self.assertRaises(UnicodeEncodeError):
            write(path, "\ud800")
        self.assertEqual(read(path), "old")


class Diff(HelperTest):
    def test_the_same_is_empty(self):
        a, b = self.make("a", b"x\n"), self.make("b", b"x\n")
        self.assertEqual(diff(a, b), "")
        self.assertEqual(self.events, [{"op": "diff", "file_a": a, "file_b": b, "identical": True, "preview": ""}])

    def test_missing_final_newlines_are_marked(self):
        a, b = self.make("a", b"1\n2"), self.make("b", b"1\n2\n")
        self.assertEqual(diff(a, b), f"--- {a}\n+++ {b}\n@@ -1,2 +1,2 @@\n 1\n-2\n\\ No newline at end of file\n+2\n")

    def test_other_line_ends_stay_within_their_line(self):
        a, b = self.make("a", "1\u20282\n".encode()), self.make("b", "1\u20283\n".encode())
        self.assertTrue(diff(a, b).endswith("@@ -1 +1 @@\n-1\u20282\n+1\u20283\n"))

    def test_bytes_that_are_no_text(self):
        a, b = self.make("a", b"k\xe4se\n"), self.make("b", b"k\\xe4se\n")
        self.assertTrue(diff(a, b).endswith("-k\\xe4se\n+k\\xe4se\n"))
        self.assertEqual(diff(self.make("c", b"\0"), a), f"Binary files {self.path('c')} and {a} differ\n")


if __name__ == "__main__":
    unittest.main()
