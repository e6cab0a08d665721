"""What is too large for a result: files that the result names."""
import json
import os
import re
import tempfile
import unittest

from program import ProgramTest

LARGE_PICTURE = "class P:\n  def _repr_png_(self): return b'\\x89PNG' + bytes(2_000_000)\n"


class LargeOutput(ProgramTest):
    def test_large_output_is_bounded_and_the_whole_is_in_a_file(self):
        with tempfile.TemporaryDirectory() as state:
            code, result = self.run_json("for i in range(100_000): print(i)", env={"XDG_STATE_HOME": state})
            cell = result["cells"][0]
            self.assertLess(len(cell["outputs"][0]["text"]), 60_000)
            self.assertEqual(cell["truncation"]["total_lines"], 100_000)
            path = cell["truncation"]["artifact_path"]
            with open(path) as file:
                self.assertEqual(file.read(), "".join(f"{i}\n" for i in range(100_000)))
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)


class LargeDisplays(ProgramTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.artifacts = os.path.join(folder.name, "artifacts")
        self.env["PI_ARTIFACTS_DIR"] = self.artifacts

    def test_a_large_image_is_a_file_that_the_result_names(self):
        code, result = self.run_json(LARGE_PICTURE + "P()")
        self.assertEqual(code, 0)
        output = result["cells"][0]["outputs"][0]
        self.assertEqual(list(output["data"]), ["text/plain"])
        saved = output["saved"]["image/png"]
        self.assertEqual((saved["bytes"], saved["error"]), (2_000_004, ""))
        with open(saved["path"], "rb") as file:
            self.assertEqual(file.read(), b"\x89PNG" + bytes(2_000_000))
        self.assertEqual(os.stat(saved["path"]).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.artifacts), [saved["artifact"]])
        self.assertIn(f"[image/png, 1.9 MiB: artifact://{saved['artifact']} ({saved['path']})]", result["text"])

    def test_a_large_gif_is_a_file_that_programs_know(self):
        code, result = self.run_json("--set", "display_inline_kb=1", "display({'image/gif': b'GIF8' * 1000}, raw=True)")
        path = result["cells"][0]["outputs"][0]["saved"]["image/gif"]["path"]
        self.assertTrue(path.endswith(".gif"), path)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"GIF8" * 1000)

    def test_large_json_is_a_file_too(self):
        code, result = self.run_json("display({'a': 'x' * 2_000_000})")
        output = result["cells"][0]["outputs"][0]
        self.assertEqual(list(output["data"]), ["text/plain"])
        with open(output["saved"]["application/json"]["path"]) as file:
            self.assertEqual(json.load(file), {"a": "x" * 2_000_000})

    def test_how_large_is_a_setting(self):
        code, result = self.run_json("--set", "display_inline_kb=0", LARGE_PICTURE + "P()")
        output = result["cells"][0]["outputs"][0]
        self.assertEqual((len(output["data"]["image/png"]) // 4 * 3, output.get("saved")), (2_000_004, None))
        code, result = self.run_json("--set", "display_inline_kb=1", "display({'a': 'x' * 2000})")
        self.assertIn("saved", result["cells"][0]["outputs"][0])

    def test_where_no_file_can_be_made_the_data_stays_in_the_result_which_says_why(self):
        with open(self.artifacts, "w"):
            pass
        code, result = self.run_json(LARGE_PICTURE + "P()")
        output = result["cells"][0]["outputs"][0]
        self.assertEqual((code, len(output["data"]["image/png"]) // 4 * 3), (0, 2_000_004))
        saved = output["saved"]["image/png"]
        self.assertEqual((saved["artifact"], saved["path"]), (None, ""))
        self.assertIn("is not a directory", saved["error"])
        self.assertIn(saved["error"], result["text"])

    def test_people_are_told_where_it_is(self):
        for size, spoken in ((2_000_003, "1.9 MiB"), (16, "16 bytes")):
            code, out, err = self.run_cellar("eval", f"class P:\n  def _repr_png_(self): return bytes({size})\nP()")
            path = re.search(rf"\[image/png, {spoken}: ({self.artifacts}/\S+)\]\n", out)[1]
            self.assertEqual((os.stat(path).st_size, err), (size, ""))


if __name__ == "__main__":
    unittest.main()
