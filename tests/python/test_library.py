import keyword
import sys
import types
import unittest
import unittest.mock

from cellar_runtime import library


class LibraryTest(unittest.TestCase):
    def setUp(self):
        self.library = library.Library()

    def test_nothing_is_put_back_where_nothing_is_missing(self):
        self.assertEqual(self.library.put_back_modules() + self.library.put_back_names(), [])

    def test_modules_that_are_none_or_gone_are_put_back(self):
        with unittest.mock.patch.dict(sys.modules):
            sys.modules["os"] = sys.modules["keyword"] = None
            del sys.modules["io"]
            self.assertEqual(self.library.put_back_modules(), ["sys.modules"])
            self.assertIs(sys.modules["keyword"], keyword)
            self.assertIn("io", sys.modules)

    def test_one_that_must_not_be_imported_stays_so(self):
        with unittest.mock.patch.dict(sys.modules, {"keyword": None}):
            self.assertEqual(self.library.put_back_modules(), [])
            self.assertIsNone(sys.modules["keyword"])

    def test_a_class_that_refuses_every_look_is_taken_away(self):
        class Angry(types.ModuleType):
            def __getattribute__(self, name):
                raise ZeroDivisionError(name)

        sys.__class__ = Angry
        self.assertEqual(self.library.put_back_modules(), ["sys.__class__"])
        self.assertIs(type(sys), types.ModuleType)

    def test_lost_names_are_put_back(self):
        before = dict(vars(keyword))
        vars(keyword).clear()
        self.assertIn("keyword.iskeyword", self.library.put_back_names())
        self.assertEqual(vars(keyword), before)

    def test_values_are_put_back_when_asked(self):
        before = keyword.iskeyword
        keyword.iskeyword = None
        self.assertEqual(self.library.put_back_names(), [])
        self.assertEqual(self.library.put_back_values(), ["keyword.iskeyword"])
        self.assertIs(keyword.iskeyword, before)


if __name__ == "__main__":
    unittest.main()
