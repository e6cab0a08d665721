import os
import unittest

from cellar_prelude import env
from helpers import HelperTest


class Env(HelperTest):
    def test_one_all_and_set(self):
        self.assertEqual(env("CELLAR_TEST", "1"), "1")
        self.assertEqual((env("CELLAR_TEST"), os.environ["CELLAR_TEST"], env("CELLAR_NONE")), ("1", "1", None))
        everything = env()
        self.assertEqual(everything, dict(os.environ))
        self.assertEqual(list(everything), sorted(everything))

    def test_events_hold_no_values(self):
        env("CELLAR_SECRET", "hush")
        env("CELLAR_SECRET")
        env()
        self.assertEqual(self.events[:2], [{"op": "env", "key": "CELLAR_SECRET", "action": "set"},
                                           {"op": "env", "key": "CELLAR_SECRET", "action": "get"}])
        self.assertNotIn("hush", str(self.events))

    def test_bad_arguments(self):
        for arguments, error in [(("A", 1), r"use str\(1\)"), (("A=B",), "cannot be the name"), ((3,), "not int"),
                                 ((None, "x"), "a value needs a key"), (("A", "\0"), "cannot contain NUL")]:
            with self.subTest(error), self.assertRaisesRegex((TypeError, ValueError), error):
                env(*arguments)


if __name__ == "__main__":
    unittest.main()
