import json
import os
import unittest
import unittest.mock

from cellar_prelude import bridge, files, output, query
from helpers import HelperTest, Provider


class Output(HelperTest):
    def setUp(self):
        super().setUp()
        os.environ["PI_ARTIFACTS_DIR"] = self.folder

    def test_one_id_is_text_and_several_are_a_list(self):
        self.make("cellar-0123456789ab.txt", b"1\n2\n3\n")
        self.make("Reviewer.md", b"fine")
        self.assertEqual(output("artifact://cellar-0123456789ab.txt"), "1\n2\n3\n")
        both = output("cellar-0123456789ab.txt", "agent://Reviewer")
        self.assertEqual([(each["id"], each["content"], each["lines"], each["chars"]) for each in both],
                         [("cellar-0123456789ab.txt", "1\n2\n3\n", 3, 6), ("Reviewer", "fine", 1, 4)])
        self.assertEqual(self.events[-1], {"op": "output", "ids": ["cellar-0123456789ab.txt", "Reviewer"], "chars": 10})

    def test_formats(self):
        path = self.make("x.md", b"\x1b[1mbold\x1b[0m \x1b]0;title\x07plain")
        self.assertEqual(output("x"), "\x1b[1mbold\x1b[0m \x1b]0;title\x07plain")
        self.assertEqual(output("x", format="stripped"), "bold plain")
        self.make("y.md", b"a\nb")
        self.assertEqual(output("y", format="json"),
                         {"id": "y", "path": path.replace("x.md", "y.md"), "content": "a\nb", "lines": 2, "chars": 3})
        with self.assertRaisesRegex(ValueError, "one of raw, json, stripped, not 'xml'"):
            output("x", format="xml")

    def test_ranges(self):
        self.make("x.md", b"1\n2\n3\n4")
        self.assertEqual(output("x", offset=2, limit=2), "2\n3\n")
        self.assertEqual(output("x", limit=0), "")
        with self.assertRaisesRegex(ValueError, "offset 9 is past the end of x, which has 4 lines"):
            output("x", offset=9)
        self.make("form feed.md", b"1\x0c1\r1\n2\n")
        self.assertEqual((output("form feed", offset=2), output("form feed", format="json")["lines"]), ("2\n", 2))

    def test_lines_are_read_of_an_output_that_is_too_large_as_a_whole(self):
        self.make("huge.md", b"0123456789\n" * 20)
        with unittest.mock.patch.object(files, "MAX_BYTES", 50):
            with self.assertRaisesRegex(ValueError, "offset and limit"):
                output("huge")
            self.assertEqual(output("huge", offset=19, limit=4), "0123456789\n" * 2)
            with self.assertRaisesRegex(ValueError, "offset 21 is past the end of huge, which has 20 lines"):
                output("huge", offset=21)

    def test_queries(self):
        self.make("x.md", json.dumps({"a": {"b": [{"k k": "v"}, 2]}}).encode())
        self.assertEqual(output("x", query='.a.b[0]["k k"]'), "v")
        self.assertEqual(output("x", query="a.b[-1]"), "2")
        self.assertEqual(output("x", query=".a.b", format="json")["content"], [{"k k": "v"}, 2])
        with self.assertRaisesRegex(LookupError, r"in x, \.a has no key 'c'; its keys: 'b'"):
            output("x", query=".a.c")
        with self.assertRaisesRegex(LookupError, r"\.a\.b has 2 items, so there is no \[7\]"):
            output("x", query=".a.b[7]")
        with self.assertRaisesRegex(LookupError, r"\.a is an object, not a list"):
            output("x", query=".a[0]")
        with self.assertRaisesRegex(ValueError, "cannot be combined"):
            output("x", query=".a", offset=1)
        self.make("text.md", b"no json")
        with self.assertRaisesRegex(ValueError, "needs JSON, and text is none"):
            output("text", query=".a")

    def test_ids_cannot_leave_the_directory(self):
        outside = self.make("secret")
        os.environ["PI_ARTIFACTS_DIR"] = self.path("inner")
        os.mkdir(self.path("inner"))
        os.symlink(outside, self.path("inner/link"))
        for given in ("../secret", outside, "..", ""):
            with self.subTest(given), self.assertRaises(ValueError):
                output(given)
        with self.assertRaises(OSError):
            output("link")

    def test_an_id_that_is_missing_lists_those_there_are(self):
        self.make("One.md")
        with self.assertRaisesRegex(FileNotFoundError, "no output 'Two'; those in .*: One"):
            output("Two")
        with self.assertRaisesRegex(TypeError, "at least one id"):
            output()

    def test_the_directory_beside_the_session_file(self):
        del os.environ["PI_ARTIFACTS_DIR"]
        os.environ["PI_SESSION_FILE"] = self.path("work.jsonl")
        self.make("work/One.md", b"1")
        self.assertEqual(output("One"), "1")

    def test_a_running_agent_is_asked_over_the_bridge(self):
        provider = Provider({"output": lambda args: "so far" if args["id"] == "Runner" else None})
        bridge.connect(provider)
        self.assertEqual(output("Runner"), "so far")
        with self.assertRaises(FileNotFoundError):
            output("Nobody")


class Query(unittest.TestCase):
    def test_what_is_no_query_is_said(self):
        for text in (".a b", "[", ".a..b", "a[x]", "[0]a"):
            with self.subTest(text), self.assertRaisesRegex(ValueError, "not understood"):
                query.parse(text)


if __name__ == "__main__":
    unittest.main()
