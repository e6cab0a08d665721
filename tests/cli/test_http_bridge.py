"""Tools that cells reach by HTTP, through the program as a user starts it."""
import json
import signal
import subprocess
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from line_client import LineClient
from program import ProgramTest

# One black pixel.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"], body))
        if body["name"] == "hang":
            self.server.hanging.set()
            self.rfile.read(1)  # until the caller goes away
            self.server.left.set()
            return
        if body["name"] == "nap":
            time.sleep(1.5)
        answer = {"ok": True, "value": "slept" if body["name"] == "nap" else body["args"]}
        if body["name"] == "draw":
            answer = {"ok": True, "value": None, "images": [{"mime": "image/png", "data": PNG}]}
        answer = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 32  # calls that come at once are all let in


class HttpBridge(ProgramTest):
    def setUp(self):
        super().setUp()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.requests, self.server.hanging, self.server.left = [], threading.Event(), threading.Event()
        thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        thread.start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(self.server.shutdown)
        self.env.update(PI_TOOL_BRIDGE_URL=f"http://127.0.0.1:{self.server.server_port}", PI_TOOL_BRIDGE_TOKEN="t",
                        PI_TOOL_BRIDGE_SESSION="s", http_proxy="http://127.0.0.1:1")

    def test_plain_async_and_parallel_calls(self):
        code, out, err = self.run_cellar(
            "eval", "tool.echo({'n': 1})", "await tool.echo.aio(n=2)",
            "parallel([lambda n=n: tool.echo(n=n)['n'] for n in range(16)], 16) == list(range(16))")
        self.assertEqual((code, out, err), (0, "{'n': 1}\n{'n': 2}\nTrue\n", ""))
        self.assertEqual(self.server.requests[1], (
            "/v1/tool", "Bearer t", {"session": "s", "run": "2", "name": "echo", "args": {"n": 2}}))

    def test_an_image_is_shown_like_any_other(self):
        _, result = self.run_json("tool.draw()")
        self.assertEqual(result["cells"][0]["outputs"][-1]["data"]["image/png"], PNG)

    def test_an_interrupt_ends_a_call_that_waits(self):
        for cell in ("tool.hang()", "await tool.hang.aio()", "parallel([tool.hang])"):
            with self.subTest(cell):
                self.server.hanging.clear()
                self.server.left.clear()
                process = self.start("eval", "--timeout", "0", cell)
                self.assertTrue(self.server.hanging.wait(20))
                process.send_signal(signal.SIGINT)
                self.assertEqual(process.wait(10), 130)
                self.assertTrue(self.server.left.wait(5))

    def test_the_clock_stands_still_while_an_answer_is_waited_for(self):
        for call in ("tool.nap()", "await tool.nap.aio()", "parallel([tool.nap])[0]"):
            with self.subTest(call):
                _, result = self.run_json(call, "--timeout", "1")
                self.assertEqual((result["text"], result["cells"][0]["timed_out"]), ("'slept'", False))

    def test_a_call_on_behalf_of_a_cell_that_waits_here_fails_at_once(self):
        process = self.start("serve", stdin=subprocess.PIPE, bufsize=0)
        client = LineClient(process.stdin, process.stdout)
        client.send(id="a", type="eval", cells=[{"code": "tool.hang()"}])
        self.assertTrue(self.server.hanging.wait(20))
        [session] = client.ask("sessions")["sessions"]
        self.assertEqual(client.eval("1", parent=session["call"])["error"],
                         {"ename": "SessionRefused", "evalue": "session is held by the cell that waits for you"})
        client.ask("cancel", call="a")
        self.assertEqual(client.done("a")["result"]["cells"][0]["state"], "kept")
        self.assertTrue(self.server.left.wait(5))
        process.stdin.close()
        self.assertEqual(process.wait(10), 0)


if __name__ == "__main__":
    unittest.main()
