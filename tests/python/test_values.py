import json
import math
import unittest

from cellar_runtime import values


class Values(unittest.TestCase):
    def test_json_is_read_as_the_json_module_reads_it(self):
        for text in ('{"a": [1, -2.5e3, true, false, null, "\\u00e4\\ud800"], "": {}}', " \t\n\r[]\n", '"ä\U0001f9c0"', "12345678901234567890",
                     "-Infinity"):
            self.assertEqual(values.decode(True, text.encode()), json.loads(text))
        self.assertTrue(math.isnan(values.decode(True, b"NaN")))
        self.assertEqual(values.decode(False, b"1"), b"1")

    def test_what_is_no_json_is_an_error(self):
        for data in (b"", b"  ", b"nul", b"[1", b'{"a" 1}', b"1 2", b'"a', b"\xff", b"[" * 100_000):
            with self.subTest(data[:10]), self.assertRaises((ValueError, RecursionError)):
                values.decode(True, data)

    def test_what_is_encoded_can_be_read_back(self):
        self.assertEqual(values.encode({"ä": (1, {2: None})}), (True, '{"ä": [1, {"2": null}]}'.encode()))
        self.assertEqual(values.encode(bytearray(b"\xff")), (False, b"\xff"))

    def test_what_would_be_lost_is_an_error(self):
        for value in (math.nan, {1}, {1: "a", "1": "b"}, [({True: 1, "true": 2},)], {None: 1, "null": 2}):
            with self.subTest(value), self.assertRaises((ValueError, TypeError)):
                values.encode(value)


if __name__ == "__main__":
    unittest.main()
