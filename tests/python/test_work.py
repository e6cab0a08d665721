import contextvars
import threading
import time
import unittest

from cellar_prelude import parallel, pipeline
from helpers import HelperTest

VARIABLE = contextvars.ContextVar("variable")


class Parallel(HelperTest):
    def setUp(self):
        super().setUp()
        self.threads = threading.active_count()

    def tearDown(self):
        self.assertEqual(threading.active_count(), self.threads, "threads are left")

    def test_results_have_the_order_of_the_thunks(self):
        self.assertEqual(parallel([lambda n=n: time.sleep((5 - n) / 100) or n for n in range(6)]), list(range(6)))
        self.assertEqual(parallel([]), [])
        self.assertEqual(self.events[0], {"op": "parallel", "count": 6, "concurrency": 4})

    def test_the_width_is_bounded(self):
        for asked, width in ((None, 4), (2, 2), (99, 16)):
            running, most, lock = 0, 0, threading.Lock()
            full = threading.Barrier(width)

            def thunk():
                nonlocal running, most
                with lock:
                    running += 1
                    most = max(most, running)
                full.wait(10)  # so many are needed at once to pass
                with lock:
                    running -= 1

            parallel([thunk] * (3 * width), **({} if asked is None else {"concurrency": asked}))
            self.assertLessEqual(most, width)

    def test_the_first_error_in_order_is_raised_and_nothing_more_is_started(self):
        started = []
        both = threading.Barrier(2)

        def thunk(n):
            started.append(n)
            if n < 2:
                both.wait(10)
                time.sleep(0.02 * (1 - n))
                raise KeyError(n)

        with self.assertRaises(KeyError) as raised:
            parallel([lambda n=n: thunk(n) for n in range(9)], concurrency=2)
        self.assertEqual(raised.exception.args, (0,))
        self.assertEqual(sorted(started), [0, 1])

    def test_context_variables_are_carried_over_and_stay_apart(self):
        VARIABLE.set("outer")

        def thunk():
            before = VARIABLE.get()
            VARIABLE.set("inner")
            return before

        self.assertEqual(parallel([thunk] * 5, 1), ["outer"] * 5)
        self.assertEqual(VARIABLE.get(), "outer")

    def test_it_nests(self):
        self.assertEqual(parallel([lambda: parallel([lambda: 1, lambda: 2])] * 3), [[1, 2]] * 3)

    def test_bad_arguments(self):
        async def thunk():
            pass

        for arguments, error in [(([1],), "item 0 is of type int"), (([], 0), "concurrency must be at least 1"),
                                 ((5,), "needs a list of functions, not int"),
                                 (([], "4"), "concurrency must be an integer"), (([thunk],), "async function")]:
            with self.subTest(error), self.assertRaisesRegex((TypeError, ValueError), error):
                parallel(*arguments)


class Pipeline(HelperTest):
    def test_every_item_passes_a_stage_before_the_next_begins(self):
        log = []

        def stage(name):
            return lambda item: log.append(name) or item + name

        self.assertEqual(pipeline("xyz", stage("1"), stage("2"), concurrency=3), ["x12", "y12", "z12"])
        self.assertEqual(log, ["1"] * 3 + ["2"] * 3)
        self.assertEqual(self.events, [{"op": "pipeline", "count": 3, "stages": 2, "concurrency": 3}])

    def test_an_error_stops_the_later_stages(self):
        with self.assertRaises(ZeroDivisionError):
            pipeline([1, 0], lambda n: 1 / n, self.fail)

    def test_bad_arguments(self):
        self.assertEqual(pipeline([1, 2]), [1, 2])
        with self.assertRaisesRegex(TypeError, "stage 2 is of type int"):
            pipeline([], str, 3)


if __name__ == "__main__":
    unittest.main()
