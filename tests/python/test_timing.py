import unittest

from cellar_runtime.timing import TimeitResult


class Spans(unittest.TestCase):
    def test_three_digits_and_the_unit_they_belong_to(self):
        for seconds, text in [(0, "0 ns"), (9.994e-7, "999 ns"), (9.996e-7, "1 µs"), (1.5e-6, "1.5 µs"), (0.99999, "1 s"),
                              (59.94, "59.9 s"), (61, "1min 1s"), (3700, "1h 1min 40s")]:
            self.assertEqual(str(TimeitResult(1, [seconds])).partition(" ±")[0], text)


if __name__ == "__main__":
    unittest.main()
