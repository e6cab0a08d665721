"""The world around a server gives way: directories vanish, disks fill, descriptors run out, another host is there."""
import os
import resource
import shutil
import subprocess
import unittest

from fault_test import SPILLS, FaultTest
from line_client import dial, listens
from program import DEADLINE_S, SLOWNESS, until_there, wait_until


class Surroundings(FaultTest):
    def client(self, **options):
        client = self.serve(**options)
        client.next_frame(type="hello")
        return client

    def end(self, client):
        client.out.close()
        while client.read_frame() is not None:
            pass
        self.assertEqual(self.process.wait(DEADLINE_S), 0)

    def artifacts(self):
        return self.env["PI_ARTIFACTS_DIR"]

    def truncation(self, client, code=SPILLS):
        done = client.eval(code)
        self.assertEqual(done["status"], "ok", done)
        return done["result"]["cells"][0]["truncation"]

    def check_spilled(self, path):
        with open(path) as file:
            self.assertEqual(file.read(), "child\n" + "y" * 100_000 + "\n")

    def test_the_working_directory_is_deleted(self):
        place = os.path.join(self.folder, "place")
        os.mkdir(place)
        client = self.client(cwd=place)
        self.assertEqual(client.value("x = 1; x"), "1")
        os.rmdir(place)
        self.assertEqual(client.value("x"), "1")
        done = client.eval("1 + 1", session="another")
        self.assertEqual((done["status"], done["error"]["ename"]), ("refused", "CannotRun"))
        self.assertIn(f"the session's directory {place}: No such file or directory", done["error"]["evalue"])
        self.assertEqual(client.value("x"), "1")
        self.end(client)

    def test_the_artifact_directory_is_deleted(self):
        client = self.client()
        self.assertEqual(self.truncation(client)["missing_bytes"], 0)
        shutil.rmtree(self.artifacts())
        again = self.truncation(client)  # it is made anew
        self.assertEqual((again["error"], again["missing_bytes"]), ("", 0))
        self.check_spilled(again["artifact_path"])
        self.end(client)

    def test_the_artifact_directory_cannot_be_made(self):
        with open(self.artifacts(), "w"):
            pass
        client = self.client()
        self.assertEqual(client.value("6 * 7"), "42")
        lost = self.truncation(client)
        self.assertNotEqual(lost["error"], "")
        self.assertGreater(lost["missing_bytes"], 0)
        self.end(client)

    def test_two_hosts_share_an_artifact_directory(self):
        first, first_process = self.client(), self.process
        second = self.client()
        gate = os.path.join(self.folder, "gate")
        for client in (first, second):
            for i in range(3):
                client.send(id=i, type="eval", session=f"s{i}", cells=[{"code": f"{until_there(gate)}\n{SPILLS}"}])
        for client in (first, second):
            for i in range(3):
                client.next_frame(i, "started")
        os.mkdir(gate)
        paths = [[client.done(i)["result"]["cells"][0]["truncation"]["artifact_path"] for i in range(3)]
                 for client in (first, second)]
        self.assertEqual(len(set(paths[0] + paths[1])), 6)
        for path in paths[1]:
            self.check_spilled(path)
        self.end(second)
        for path in paths[0]:
            self.check_spilled(path)
        self.process = first_process
        self.end(first)

    @unittest.skipIf(os.getuid() != 0, "only root can mount a small disk")
    def test_the_disk_is_full(self):
        os.mkdir(self.artifacts())
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "none", self.artifacts()], capture_output=True)
        if mounted.returncode:
            self.skipTest(f"no small disk: {mounted.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", self.artifacts()], check=True)
        client = self.client()
        lost = self.truncation(client)
        self.assertIn("No space left", lost["error"])
        self.assertEqual(lost["artifact_bytes"] + lost["missing_bytes"], len("child\n") + 100_001)
        self.assertEqual(client.value("6 * 7"), "42")
        self.end(client)

    def test_descriptors_run_out(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
        client = self.client(preexec_fn=few)
        gate = os.path.join(self.folder, "gate")
        frames = []
        for i in range(8):  # idle ones would give way
            client.send(id=i, type="eval", session=f"s{i}", cells=[{"code": f"print('on')\n{until_there(gate)}"}])
            while (frame := client.next_frame(i))["type"] == "started":
                pass
            frames.append(frame)
        running = [frame for frame in frames if frame["type"] == "stdout"]
        refused = [frame for frame in frames if frame["type"] == "done"]
        self.assertTrue(running and refused, frames)
        for frame in refused:
            self.assertEqual(frame["status"], "refused")
            self.assertIn("Too many open files", frame["error"]["evalue"])
        self.assertEqual(client.ask("close", session=f"s{running[-1]['id']}")["status"], "ok")
        self.assertEqual(client.value("6 * 7", session="new"), "42")
        os.mkdir(gate)
        for frame in running[:-1]:
            self.assertEqual(client.done(frame["id"])["status"], "ok")
        self.end(client)


class DaemonSurroundings(FaultTest):
    def setUp(self):
        super().setUp()
        self.env["XDG_RUNTIME_DIR"] = self.folder
        self.directory = os.path.join(self.folder, "cellar")
        self.addCleanup(self.run_cellar, "daemon", "stop")  # the one that takes its place
        # One that looks around more often than it would.
        self.daemon = self.start("daemon", "run", "--idle-exit", str(4 * SLOWNESS), stderr=subprocess.DEVNULL)
        self.socket_path = os.path.join(self.directory, "socket")
        wait_until(lambda: listens(self, self.socket_path), "the daemon")
        self.assertEqual(self.run_cellar("eval", "-s", "s", "x = 1")[0], 0)

    def check_another_takes_its_place(self, state):
        """Nobody can find the old one: it is not left for ever."""
        code, result = self.run_json("-s", "s", "'x' in globals()")
        self.assertEqual((code, result["cells"][0]["outputs"][0]["data"]["text/plain"]), (0, "False"))
        self.assertEqual(result["session"]["state"], state)
        self.assertEqual(self.daemon.wait(DEADLINE_S), 0)

    def test_the_runtime_directory_of_a_daemon_is_deleted(self):
        shutil.rmtree(self.directory)
        self.check_another_takes_its_place("kept")  # the list of what there was is deleted too

    def test_the_runtime_directory_of_a_daemon_is_replaced(self):
        os.rename(self.directory, self.directory + ".old")
        self.check_another_takes_its_place("kept")

    def test_the_socket_of_a_daemon_is_deleted(self):
        os.unlink(self.socket_path)
        self.check_another_takes_its_place("fresh")

    def test_what_its_last_clients_do_comes_first(self):
        client = dial(self, self.socket_path)
        gate = os.path.join(self.folder, "gate")
        client.send(id="a", type="eval", session="s", cells=[{"code": f"{until_there(gate)}\nx"}])
        client.next_frame("a", "started")
        shutil.rmtree(self.directory)
        self.assertEqual(self.run_json("-s", "s", "'x' in globals()")[1]["text"], "False")
        os.mkdir(gate)
        self.assertEqual(client.done("a")["result"]["text"], "1")
        client.leave()
        self.assertEqual(self.daemon.wait(DEADLINE_S), 0)


if __name__ == "__main__":
    unittest.main()
