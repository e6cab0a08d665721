import importlib
import os
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

from cellar_runtime import late_import

_NAME = "colorsys"  # of the standard library, and not imported by anything here


class LateImportTest(unittest.TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with open(os.path.join(folder, f"{_NAME}.py"), "w") as file:
            file.write("raise AssertionError('the file of the user was run')")
        self.path = [folder, *sys.path]
        self.enterContext(unittest.mock.patch.object(sys, "path", self.path))
        self.enterContext(unittest.mock.patch.dict(sys.modules))
        self.enterContext(unittest.mock.patch.dict(late_import._loaded, clear=True))
        sys.modules.pop(_NAME, None)

    def test_a_file_of_the_user_does_not_take_its_place(self):
        self.assertEqual(late_import.load(_NAME).rgb_to_hsv(0, 0, 0), (0.0, 0.0, 0))
        self.assertIs(sys.path, self.path)

    def test_nor_does_what_a_cell_has_put_into_sys_modules(self):
        own = types.ModuleType(_NAME)
        for other in (own, None, object()):
            with self.subTest(other):
                late_import._loaded.clear()
                sys.modules[_NAME] = other
                self.assertEqual(late_import.load(_NAME).rgb_to_hsv(0, 0, 0), (0.0, 0.0, 0))
                self.assertIs(sys.modules[_NAME], other, "it is the user's own")

    def test_a_module_that_a_cell_has_imported_is_that_one(self):
        import csv
        self.assertIs(late_import.load("csv"), csv)

    def test_other_threads_find_the_modules_of_the_session_meanwhile(self):
        with open(os.path.join(self.path[0], "neighbour.py"), "w") as file:
            file.write("wheels = 4")
        found = []

        def import_both(name):
            thread = threading.Thread(target=lambda: found.append(importlib.import_module("neighbour").wheels))
            thread.start()
            thread.join()
            return importlib.import_module(name)

        with unittest.mock.patch.object(late_import, "import_module", import_both):
            self.assertTrue(late_import.load(_NAME))
        self.assertEqual(found, [4])

    def test_an_interrupt_leaves_all_as_it_was(self):
        own = sys.modules[_NAME] = types.ModuleType(_NAME)
        for step in ("_before", "_drop_forged_modules", "import_module"):
            with self.subTest(step), unittest.mock.patch.object(late_import, step, side_effect=KeyboardInterrupt):
                self.assertRaises(KeyboardInterrupt, late_import.load, _NAME)
                self.assertIs(sys.path, self.path)
                self.assertIs(sys.modules[_NAME], own)

    def test_what_the_path_was_replaced_by_stays(self):
        sys.path = None
        self.assertTrue(late_import.load(_NAME))
        self.assertIsNone(sys.path)


if __name__ == "__main__":
    unittest.main()
