"""The world around a server gives way: directories vanish, disks fill, descriptors run out, another host is there."""
import os
import resource
import shutil
import subprocess
import tempfile
import unittest

from fault_test import SPILLS, FaultTest
from line_client import LineClient
from program import DEADLINE_S, wait_until


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

    def test_the_working_directory_is_deleted(self):
        place = os.path.join(self.folder, "place")
        os.mkdir(place)
        client = self.client(cwd=place)
        self.assertEqual(client.value("x = 1; x"), "1")
        os.rmdir(place)
        self.assertEqual(client.value("x"), "1")
        # One more session starts there, or says why not.
        done = client.eval("1 + 1", session="another")
        if done["status"] != "ok":
            self.assertIn(place, done["error"]["evalue"])
        self.assertEqual(client.value("x"), "1")
        self.end(client)

    def test_the_artifact_directory_is_deleted(self):
        client = self.client()
        self.assertEqual(self.truncation(client)["missing_bytes"], 0)
        shutil.rmtree(self.artifacts())
        lost = self.truncation(client)
        # Made anew, or said to be missing; the cell is complete either way.
        self.assertTrue(lost["error"] or os.path.getsize(lost["artifact_path"]) == lost["artifact_bytes"], lost)
        self.assertEqual(client.value("6 * 7"), "42")
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
        first, process = self.client(), self.process
        second = self.client()
        paths = {self.truncation(client)["artifact_path"] for client in (first, second) for _ in range(3)}
        self.assertEqual(len(paths), 6)
        for path in paths:
            with open(path) as file:
                self.assertEqual(file.read(), "child\n" + "y" * 100_000 + "\n")
        self.end(second)
        self.process = process
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
        answers = [client.eval("1 + 1", session=f"s{i}") for i in range(12)]
        self.assertEqual(answers[0]["result"]["text"], "2")
        for answer in answers:
            if answer["status"] == "refused":
                self.assertRegex(answer["error"]["evalue"], "descriptors|Too many open files")
            else:
                self.assertTrue(answer["result"]["text"].startswith("2"), answer)
        self.end(client)

    def test_the_runtime_directory_of_a_daemon_is_deleted(self):
        self.env["XDG_RUNTIME_DIR"] = self.folder
        self.assertEqual(self.run_cellar("eval", "-s", "s", "x = 1")[0], 0)
        first = self.daemon_pid()
        shutil.rmtree(os.path.join(self.folder, "cellar"))
        # Nobody can find the old one: another takes its place, and the old one is not left for ever.
        code, out, _ = self.run_cellar("eval", "-s", "s", "6 * 7")
        self.assertEqual((code, out), (0, "42\n"))
        second = self.daemon_pid()
        self.assertNotEqual(first, second)
        self.assertEqual(self.run_cellar("daemon", "stop")[0], 0)
        os.kill(first, 15)

    def daemon_pid(self):
        out = self.run_cellar("daemon", "status")[1]
        return int(out.split("pid ")[1].split()[0].rstrip(",;:"))


if __name__ == "__main__":
    unittest.main()
