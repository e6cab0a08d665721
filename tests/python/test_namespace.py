import sys
import unittest
import unittest.mock

from cellar_runtime.namespace import Namespace


class Odd:
    """Looks like a name, and fails when it is compared with one."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        raise ZeroDivisionError


class NamespaceTest(unittest.TestCase):
    def setUp(self):
        self.enterContext(unittest.mock.patch.dict(sys.modules))
        self.namespace = Namespace({})

    def take_over(self, name):
        names = self.namespace.globals
        names[Odd(name)] = names.pop(name)

    def test_keys_that_fail_when_compared_are_dropped(self):
        self.namespace.globals["x"] = 1
        self.take_over("__builtins__")
        self.assertEqual(self.namespace.restore(), ["__builtins__"])
        self.assertEqual(self.namespace.globals["x"], 1)

    def test_a_result_is_kept_in_spite_of_them(self):
        self.take_over("_")
        self.namespace.remember_result(3, "value")
        self.assertEqual(self.namespace.globals["_3"], "value")

    def test_other_keys_do_no_harm(self):
        self.namespace.globals[5] = 6
        self.assertEqual(self.namespace.restore(), [])
        self.assertEqual(self.namespace.globals[5], 6)


if __name__ == "__main__":
    unittest.main()
