import asyncio
import os
import threading
import unittest

from cellar_runtime import session_loop


class SessionLoopTest(unittest.TestCase):
    def setUp(self):
        self.loop = session_loop.make_loop()
        self.reading, self.writing = os.pipe()
        self.loop.listen(self.reading, self._on_readable)
        self.heard = b""

    def tearDown(self):
        asyncio.set_child_watcher(None)
        asyncio.set_event_loop(None)
        self.loop.close()
        os.close(self.reading)
        os.close(self.writing)

    def _on_readable(self):
        self.heard += os.read(self.reading, 100)

    def run_for(self, coroutine):
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, 5))

    def listen_again(self, break_it=lambda: None):
        """As the runtime does: in the callback of the loop in which a cell has run."""
        answers = []

        def look():
            break_it()
            answers.append(session_loop.listen_again(self.loop))
            self.loop.stop()

        self.loop.call_soon(look)
        self.loop.run_forever()
        return answers.pop()

    def assert_listens(self):
        os.write(self.writing, b"x")
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()
        self.assertEqual(self.heard, b"x")

    def test_a_whole_loop_is_left_alone(self):
        self.assertFalse(self.listen_again())
        self.assert_listens()

    def test_sockets_and_threads_wake_it_without_timers(self):
        async def answer():
            server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            rest = await reader.read()
            writer.close()
            server.close()
            return rest, await self.loop.run_in_executor(None, abs, -1)

        self.assertEqual(self.loop.run_until_complete(answer()), (b"", 1))

    def test_timers_run_in_order(self):
        async def wait():
            order = []
            for delay in (0.02, 0.01, 0):
                self.loop.call_later(delay, order.append, delay)
            await asyncio.sleep(0.05)
            return order

        self.assertEqual(self.run_for(wait()), [0, 0.01, 0.02])

    def test_a_reader_whose_descriptor_was_closed_is_called_no_more(self):
        async def count(with_timer):
            calls = []
            reading, writing = os.pipe()
            self.loop.add_reader(reading, calls.append, 1)
            os.close(reading)
            if with_timer:
                await asyncio.sleep(0.01)
            else:
                for _ in range(20):
                    await asyncio.sleep(0)
            os.close(writing)
            return calls

        for with_timer in (False, True):
            self.assertEqual(self.loop.run_until_complete(count(with_timer)), [])
        self.assert_listens()

    def test_a_cancelled_callback_does_not_run(self):
        calls = []
        self.loop.call_soon(calls.append, 1).cancel()
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()
        self.assertEqual(calls, [])

    def test_what_a_cell_takes_away_is_put_back(self):
        def close_sockets():
            self.loop._ssock.close()
            self.loop._csock.close()

        for break_it in (
                lambda: self.loop.remove_reader(self.reading), lambda: self.loop._selector.close(), close_sockets,
                lambda: setattr(self.loop, "_closed", True), lambda: setattr(self.loop, "_ready", None),
                lambda: setattr(self.loop, "_scheduled", None), lambda: setattr(self.loop, "_selector", None),
                lambda: setattr(self.loop, "call_soon", None), lambda: setattr(self.loop, "_run_once", None),
                lambda: setattr(self.loop._selector, "select", None), lambda: vars(self.loop).clear(),
                lambda: vars(self.loop).update(dict.fromkeys(vars(self.loop))), lambda: vars(self.loop._selector).clear(),
                lambda: setattr(self.loop, "__class__", asyncio.SelectorEventLoop),
                lambda: setattr(self.loop, "_thread_id", None), lambda: asyncio._set_running_loop(None)):
            self.assertTrue(self.listen_again(break_it))
            self.assertFalse(self.listen_again())
            self.heard = b""
            self.assert_listens()

    def test_what_no_turn_can_deal_with_is_dropped_when_the_loop_has_failed(self):
        def break_clock():
            self.loop._clock_resolution = None
            self.loop.call_later(0, print)

        for break_it in (
                lambda: self.loop.call_at("tomorrow", print), lambda: self.loop.call_at(10 ** 400, print),
                lambda: self.loop._scheduled.append(5), lambda: self.loop._ready.extend([5, 5]),
                lambda: vars(self.loop).clear(), break_clock):
            break_it()
            with self.assertRaises(Exception):
                self.loop.run_forever()
            asyncio._set_running_loop(None)
            self.assertTrue(session_loop.mend_failed(self.loop))
            self.assertFalse(session_loop.mend_failed(self.loop))
            self.heard = b""
            self.assert_listens()

    def test_it_runs_in_no_other_thread(self):
        raised = []

        def run():
            self.loop._thread_id = None
            try:
                self.loop.run_forever()
            except RuntimeError as error:
                raised.append(str(error))

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        self.assertEqual(raised, ["This event loop is already running"])

    def test_an_attribute_that_hides_nothing_stays(self):
        self.loop.name = "mine"
        self.assertFalse(self.listen_again())
        self.assertEqual(self.loop.name, "mine")


if __name__ == "__main__":
    unittest.main()
