import builtins
import os
import sys
import time
import unittest

from cellar_runtime import completion
from helpers import HelperTest


class Complete(HelperTest):
    def complete(self, text, cursor=None, **names):
        names["__builtins__"] = builtins
        answer = completion.complete(names, text, len(text) if cursor is None else cursor)
        self.assertEqual(answer["end"], len(text) if cursor is None else cursor)
        self.start = answer["start"]
        return [match["text"] for match in answer["matches"]]

    def test_names_builtins_keywords_and_names_of_the_text(self):
        self.assertEqual(self.complete("wag", wagon=1, _wag=2), ["wagon"])
        self.assertEqual(self.complete("x + isins"), ["isinstance"])
        self.assertEqual(self.complete("nonl"), ["nonlocal"])
        self.assertEqual(self.complete("def wander(): pass\nfor wanton in x: wa"), ["wander", "wanton"])
        self.assertEqual(self.complete("_w", wagon=1, _wag=2), ["_wag"])
        self.assertEqual(self.complete("a\nwag b", 5, wagon=1), ["wagon"])
        self.assertEqual(self.start, 2)

    def test_attributes_items_and_literals(self):
        class Point:
            __slots__ = ("x", "y")
            size = property(lambda self: self.fail())

            def move(self, dx, dy=0):
                pass

        point = Point()
        point.x = [1]
        self.assertEqual(self.complete("p.", p=point), ["move", "size", "x", "y"])
        self.assertEqual(self.complete("p.x.appe", p=point), ["append"])
        self.assertEqual(self.complete("p.size.", p=point), [])  # what it gives is not known
        self.assertEqual(self.complete("d['k'][0].appe", d={"k": ([],)}), ["append"])
        self.assertEqual(self.complete("os.path.joi", os=os), ["join"])
        self.assertEqual(self.complete("'a b'.upp"), ["upper"])
        match, = completion.complete({"p": point}, "p.mov", 5)["matches"]
        self.assertEqual(match, {"text": "move", "type": "function", "signature": "move(dx, dy=0)"})

    def test_keys(self):
        class Mine(dict):
            def keys(self):
                raise AssertionError("user code")

        self.assertEqual(self.complete("d['a", d={"ab": 1, "ac": 2, 3: 4}), ["ab", "ac"])
        self.assertEqual(self.complete('d["', d=Mine(x=1)), ["x"])
        self.assertEqual(self.complete("d['a']['", d={"a": {"inner": 1}}), ["inner"])

    def test_columns_of_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        self.assertEqual(self.complete("frame['", frame=pandas.DataFrame({"one": [1], "two": [2]})), ["one", "two"])
        frame = pandas.DataFrame({"price": [1], "pro rata": [2], "prod": [3], 4: [5]})
        self.assertEqual(self.complete("frame.pr", frame=frame), ["price", "prod", "product"])
        self.assertEqual(self.complete("frame.price", frame=type("Own", (pandas.DataFrame,), {})(frame)), [])

    def test_paths_in_strings(self):
        self.make("inner/file.txt")
        self.make("other.txt")
        self.assertEqual(self.complete(f"open('{self.folder}/"), ["inner/", "other.txt"])
        self.assertEqual(self.complete(f"open('{self.folder}/inner/f"), ["file.txt"])
        self.assertEqual(self.complete("open('/nowhere/at/all/"), [])

    def test_keyword_arguments(self):
        def function(first, *rest, second=1, **more):
            pass

        self.assertEqual(self.complete("f(1, sec", f=function), ["second="])
        self.assertEqual(self.complete("f(fir", f=function), ["first="])
        self.assertEqual(self.complete("f(a.b(1), [2], sec", f=function), ["second="])
        self.assertEqual(self.complete("f(second=sec", f=function), [])

    def test_imports_without_importing(self):
        self.make("cellar_test_package/__init__.py", b"raise AssertionError('imported')")
        self.make("cellar_test_package/child.py")
        sys.path.insert(0, self.folder)
        self.addCleanup(sys.path.remove, self.folder)
        self.assertEqual(self.complete("import cellar_test_p"), ["cellar_test_package"])
        self.assertEqual(self.complete("import os, cellar_test_package.ch"), ["child"])
        self.assertEqual(self.complete("from cellar_test_package import ch"), ["child"])
        self.assertEqual(self.complete("from os.pa"), ["path"])
        self.assertEqual(self.complete("from os.path import (\n  basename,\n  joi"), ["join"])
        self.assertEqual(self.complete("from itertools import cha"), ["chain"])

    def test_magics(self):
        self.assertEqual(self.complete("%tim"), ["time", "timeit"])
        self.assertEqual(self.complete("%%wri"), ["writefile"])

    def test_what_jedi_knows(self):
        try:
            import jedi
        except ImportError:
            self.skipTest("jedi is not installed")
        deadline = time.monotonic() + 30
        while not (found := self.complete("[1, 2].app")) and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(found, ["append"])

    def test_much_of_anything_takes_no_time(self):
        many = {f"name{i}": i for i in range(300_000)}
        begin = time.monotonic()
        for text in ("(" * 100_000, "1(" * 50_000, "a" * 500_000 + " ", "a." * 100_000, "\n" * 100_000 + "x", "x = '" * 50_000):
            self.complete(text)
        self.assertEqual(len(self.complete("many['", many=many)), completion.MAX_MATCHES)
        self.assertEqual(len(self.complete("name", **many)), completion.MAX_MATCHES)
        self.assertLess(time.monotonic() - begin, 5)

    def test_hooks_of_a_metaclass_are_not_run(self):
        class Meta(type):
            def __getattribute__(cls, name):
                raise AssertionError(f"asked for {name}")

            def __dir__(cls):
                raise AssertionError("asked for all")

            def __eq__(cls, other):
                raise AssertionError("compared")

            __hash__ = None

        Odd = Meta("Odd", (), {"attribute": 1, "method": lambda self: None})
        self.assertEqual(self.complete("Odd.", Odd=Odd), ["attribute", "method"])
        self.assertEqual(self.complete("odd.", odd=object.__new__(Odd)), ["attribute", "method"])
        self.assertEqual(self.complete("Od", Odd=Odd), ["Odd"])

    def test_odd_cursors_and_objects(self):
        class Liar:
            __class__ = property(lambda self: 1 / 0)
            __dict__ = None

        self.complete("liar.", liar=Liar())
        self.assertEqual(completion.complete({}, "", 99), {"matches": [], "start": 0, "end": 0} | {
            "matches": completion.complete({}, "", 0)["matches"]})
        self.complete("'", 1)
        self.complete(")]}.", 4)
        self.complete("\ud800.", 2)


if __name__ == "__main__":
    unittest.main()
