import importlib
import importlib.util
import inspect
import pathlib
import sys
import tempfile
import unittest

from cellar_runtime import import_hooks


class ImportHooksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        sys.path.insert(0, folder.name)
        self.addCleanup(sys.path.remove, folder.name)
        self.addCleanup(import_hooks._callbacks.clear)
        self.seen = []

    def module(self, name, source="value = 1\n"):
        (self.folder / f"{name}.py").write_text(source)
        importlib.invalidate_caches()
        self.addCleanup(sys.modules.pop, name, None)
        return name

    def test_runs_once_the_module_is_executed(self):
        name = self.module("hooked_a")
        import_hooks.after_import(name, lambda module: self.seen.append(module.value))
        self.assertEqual(self.seen, [])
        module = importlib.import_module(name)
        self.assertEqual(self.seen, [1])
        self.assertEqual(inspect.getsource(module), "value = 1\n")
        self.assertNotIn("exec_module", vars(module.__loader__))

    def test_runs_again_on_reload(self):
        name = self.module("hooked_b")
        import_hooks.after_import(name, lambda module: self.seen.append(module.value))
        importlib.reload(importlib.import_module(name))
        self.assertEqual(self.seen, [1, 1])

    def test_runs_at_once_for_a_loaded_module(self):
        name = self.module("hooked_c")
        importlib.import_module(name)
        import_hooks.after_import(name, lambda module: self.seen.append(module.value))
        self.assertEqual(self.seen, [1])

    def test_looking_for_a_module_does_not_run_the_hook(self):
        name = self.module("hooked_d")
        import_hooks.after_import(name, self.seen.append)
        self.assertIsNotNone(importlib.util.find_spec(name))
        self.assertEqual(self.seen, [])

    def test_a_failing_hook_leaves_the_import_alone(self):
        name = self.module("hooked_e")
        import_hooks.after_import(name, lambda module: 1 / 0)
        self.assertEqual(importlib.import_module(name).value, 1)

    def test_a_failing_or_missing_module_fails_as_ever(self):
        name = self.module("hooked_f", "1 / 0\n")
        import_hooks.after_import(name, self.seen.append)
        import_hooks.after_import("hooked_missing", self.seen.append)
        with self.assertRaises(ZeroDivisionError):
            importlib.import_module(name)
        with self.assertRaises(ModuleNotFoundError):
            importlib.import_module("hooked_missing")
        self.assertEqual(self.seen, [])


if __name__ == "__main__":
    unittest.main()
