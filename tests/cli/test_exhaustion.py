"""`cellar serve` on a machine that has no room for another process."""
import errno
import os
import resource
import tempfile
import unittest

from line_client import LineClient
from program import CELLAR, ProgramTest

FAILING_FORK = os.environ["CELLAR_FAILING_FORK"]
MOST_FORKS = 20  # of two starts that fail, with whatever the template forks ahead of time
ROUNDS = 4  # when it does that decides who fails, so a number of failures that was wrong once may be right later
ALWAYS = 1000
ANOTHER_UID = 62_345


class Exhausted(ProgramTest):
    def serve(self, **options):
        process = self.start("serve", stdin=-1, bufsize=0, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        return LineClient(process.stdin, process.stdout)

    def open_ids(self, client):
        return [session["id"] for session in client.ask("sessions")["sessions"]]


class ForksThatFail(Exhausted):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.failures = os.path.join(folder.name, "failures")
        # Copies of workers are forks too, and would take failures that are not for them.
        self.env.update(LD_PRELOAD=FAILING_FORK, CELLAR_ENV_ALLOW="LD_PRELOAD", CELLAR_SNAPSHOTS="off",
                        CELLAR_TEST_FORK_FAILURES=self.failures, PI_PYTHON_SKIP_CHECK="1")

    def let_fail(self, error, count):
        with open(self.failures, "wb") as file:
            file.write(bytes([error] * count))

    def give_way(self, client, error):
        """Lets one fork more fail each time, until the idle session "a" has had to give way and the call has run."""
        for count in ROUNDS * list(range(1, MOST_FORKS)):
            client.value("x = 1; x", session="a")
            self.let_fail(error, count)
            done = client.eval("'here'", session="new")
            self.let_fail(error, 0)
            if done["status"] == "ok" and "a" not in self.open_ids(client):
                return
            client.ask("close", session="new")
        self.fail("the idle session was never closed")

    def test_idle_sessions_give_way_and_say_so_when_they_are_wanted_again(self):
        for error in (errno.EAGAIN, errno.ENOMEM, errno.ENFILE):
            with self.subTest(errno.errorcode[error]):
                client = self.serve()
                self.give_way(client, error)
                self.assertEqual(self.open_ids(client), ["new"])
                done = client.eval("'x' in globals()", session="a")
                self.assertEqual(done["result"]["cells"][0]["outputs"][0]["data"]["text/plain"], "False")
                self.assertEqual(done["result"]["session"]["state"], "fresh")
                self.assertIn("ran out of processes, memory or descriptors", done["result"]["session"]["reason"])

    def test_a_busy_session_is_left_alone(self):
        client = self.serve()
        client.send(id="busy", type="eval", session="busy", cells=[{"code": "x = 5; print('on'); import time; time.sleep(60)"}])
        client.next_frame("busy", "stdout")
        self.give_way(client, errno.EAGAIN)
        client.send(id="stop", type="cancel", call="busy")
        self.assertEqual(client.done("busy")["result"]["cells"][0]["state"], "kept")
        self.assertEqual(client.value("x", session="busy"), "5")

    def test_when_that_does_not_help_it_is_a_clear_error_and_the_next_call_is_tried_anew(self):
        client = self.serve()
        for error in (errno.EAGAIN, errno.ENOMEM):
            with self.subTest(errno.errorcode[error]):
                self.let_fail(error, ALWAYS)
                done = client.eval("1", session="a")
                self.assertEqual(done["status"], "refused")
                self.assertIn(os.strerror(error), done["error"]["evalue"])
                self.let_fail(error, 0)
                client.eval("pass", session="a")  # is told that it was closed
                self.assertEqual(client.value("1", session="a"), "1")
                self.assertEqual(client.ask("sessions")["sessions"][0]["cells_run"], 2, "the refused one did not run")
                client.ask("close", session="a")

    def test_each_of_several_that_cannot_be_started_at_once_says_why(self):
        client = self.serve()
        for session in ("a", "b"):  # from the second on there is a spare worker
            client.value("1", session=session)
        self.let_fail(errno.EAGAIN, ALWAYS)
        calls = [f"call{i}" for i in range(6)]
        for call in calls:
            client.send(id=call, type="eval", session=call, cells=[{"code": "1"}])
        refused = [done for done in map(client.done, calls) if done["status"] != "ok"]
        self.let_fail(errno.EAGAIN, 0)
        self.assertGreaterEqual(len(refused), 5, "one may have got the spare worker")
        for done in refused:
            self.assertIn(os.strerror(errno.EAGAIN), done["error"]["evalue"])

    def test_the_first_python_process_of_all_is_tried_twice_too(self):
        client = self.serve()
        self.let_fail(errno.EAGAIN, 1)
        self.assertEqual(client.value("1", session="a"), "1")

    def test_a_cell_sees_its_own_failure_as_an_exception(self):
        client = self.serve()
        client.value("import os; os.getpid() > 0", session="a")
        self.let_fail(errno.EAGAIN, ALWAYS)
        done = client.eval("os.fork()", session="a")
        self.assertEqual(done["result"]["cells"][0]["error"]["ename"], "BlockingIOError")
        self.assertEqual(client.value("'kept'", session="a"), "'kept'")


@unittest.skipUnless(os.geteuid() == 0, "needs to become another user, whose processes are counted")
class ALimitOfProcesses(Exhausted):
    def become_another(self, limit):
        os.setgroups([])
        os.setresgid(ANOTHER_UID, ANOTHER_UID, ANOTHER_UID)
        # Threads count too; the limit holds from the exec on.
        resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
        os.setresuid(ANOTHER_UID, ANOTHER_UID, ANOTHER_UID)

    def within(self, limit):
        """Options of a program that is another user's."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chown(folder.name, ANOTHER_UID, ANOTHER_UID)
        self.env.update(HOME=folder.name, CELLAR_SNAPSHOTS="off")
        return {"cwd": folder.name, "preexec_fn": lambda: self.become_another(limit)}

    def test_without_room_for_a_thread_the_program_says_so(self):
        try:
            code, out, err = self.run_cellar("eval", "1", **self.within(1))
        except PermissionError:
            self.skipTest(f"another user cannot run {CELLAR}")
        self.assertEqual((code, out, err), (3, "", "cellar: starting a thread: Resource temporarily unavailable\n"))

    def test_sessions_come_and_go_within_it(self):
        limit = 24
        try:
            client = self.serve(**self.within(limit))
        except PermissionError:
            self.skipTest(f"another user cannot run {CELLAR}")
        # Each session is a keeper and a worker: not all of them fit.
        for i in range(limit):
            self.assertEqual(client.value(f"x = {i}; x", session=f"s{i}"), str(i))
        self.assertLess(len(self.open_ids(client)), limit / 2)
        done = client.eval("x", session="s0")
        self.assertIn("ran out of processes", done["result"]["session"]["reason"])


if __name__ == "__main__":
    unittest.main()
