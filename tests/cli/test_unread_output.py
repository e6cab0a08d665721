"""`cellar eval` whose output nobody reads: signals act, time-outs hold, and who reads late gets everything."""
import hashlib
import os
import select
import signal
import time
import unittest

from program import SLOWNESS, wait_until
from test_daemon import DaemonTest

FLOOD = "import time\nbegun = time.monotonic()\nwhile time.monotonic() - begun < 60: print('x' * 1000)"
SOON_S = 3 * SLOWNESS


class UnreadOutput(DaemonTest):
    def start_unread(self, *args):
        """The program, and the end of the pipe that is its standard output, once it is full."""
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        process = self.start(*args, stdout=writing)
        wait_until(lambda: not select.select([], [writing], [], 0)[1], "the pipe is full")
        os.close(writing)
        return process, reading

    def in_both(self, *args):
        yield "eval", *args
        yield "eval", "-s", "work", *args

    def test_a_signal_ends_it(self):
        for command in self.in_both("--timeout", "0", FLOOD):
            for number in (signal.SIGTERM, signal.SIGINT):
                process, _ = self.start_unread(*command)
                process.send_signal(number)
                self.assertEqual(process.wait(SOON_S), 128 + number, command)

    def test_a_signal_ends_it_when_the_cells_are_done(self):
        for command in self.in_both("--json", "display({'a': 'y' * 900000})"):
            for number in (signal.SIGTERM, signal.SIGINT):
                process, _ = self.start_unread(*command)
                process.send_signal(number)
                self.assertEqual(process.wait(SOON_S), 128 + number, command)

    def test_a_time_out_holds(self):
        for command in self.in_both("--timeout", "1", FLOOD, "print('never')"):
            process, reading = self.start_unread(*command)
            begun = time.monotonic()
            with open(os.dup(process.stderr.fileno()), "rb") as err:  # what is said when the cell has ended
                if command[1] != "-s":  # a client of the daemon reads no further before there is room
                    while b"timed out after 1 second" not in err.readline():
                        pass
                    self.assertLess(time.monotonic() - begun, 10 * SLOWNESS)
            while os.read(reading, 1 << 16):
                pass
            self.assertEqual(process.wait(SOON_S), 1)

    def test_who_reads_late_gets_everything(self):
        lines = "".join(f"{i:0999d}\n" for i in range(8000)).encode()
        for command in self.in_both("for i in range(8000): print(f'{i:0999d}')"):
            process, reading = self.start_unread(*command)
            found = hashlib.sha256()
            while piece := os.read(reading, 1 << 16):
                found.update(piece)
            self.assertEqual((found.digest(), process.wait(SOON_S)), (hashlib.sha256(lines).digest(), 0))
            self.assertEqual(process.stderr.read(), b"")

    def test_both_streams_stay_in_order(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        code = "import sys\nfor i in range(300): print('o' * 999); sys.stdout.flush(); print('e' * 999, file=sys.stderr)"
        process = self.start("eval", code, stdout=writing, stderr=writing)
        wait_until(lambda: not select.select([], [writing], [], 0)[1], "the pipe is full")
        os.close(writing)
        with open(os.dup(reading), "rb") as out:
            self.assertEqual([line[:1] for line in out], [b"o", b"e"] * 300)
        self.assertEqual(process.wait(SOON_S), 0)


if __name__ == "__main__":
    unittest.main()
