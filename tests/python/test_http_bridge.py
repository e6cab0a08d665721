"""The bridge by HTTP, against a real server on loopback."""
import asyncio
import base64
import json
import math
import os
import socket
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cellar_prelude import agent, bridge, budget, parallel, tool
from helpers import HelperTest

TOKEN = "secret-token"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.requests.append((self.path, self.headers["Authorization"], body))
        self.server.proxy_authorization = self.headers["Proxy-Authorization"]
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.answer(403, {"ok": False, "error": "bad token"})
        self.server.handler = self
        answer = self.server.answer(body)
        if answer is not None:
            self.answer(*answer)

    def answer(self, status, value):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 32  # calls that come at once are all let in
    daemon_threads = True


class HttpBridge(HelperTest):
    def setUp(self):
        super().setUp()
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.requests = []
        self.server.answer = lambda body: (200, {"ok": True, "value": {"echo": body["args"]}})
        thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        os.environ.update(PI_TOOL_BRIDGE_URL=self.url, PI_TOOL_BRIDGE_TOKEN=TOKEN, PI_TOOL_BRIDGE_SESSION="s1")

    def test_a_call_carries_session_run_name_and_arguments(self):
        self.assertEqual(tool.read(path="ü"), {"echo": {"path": "ü"}})
        self.assertEqual(self.server.requests, [
            ("/v1/tool", f"Bearer {TOKEN}", {"session": "s1", "run": "7", "name": "read", "args": {"path": "ü"}})])

    def test_a_proxy_is_not_asked_on_loopback(self):
        os.environ.update(http_proxy="http://127.0.0.1:1", HTTP_PROXY="http://127.0.0.1:1", https_proxy="http://127.0.0.1:1")
        self.assertEqual(tool.x(), {"echo": {}})

    def test_a_proxy_is_asked_for_other_hosts(self):
        os.environ.update(PI_TOOL_BRIDGE_URL="http://tools.invalid/base/", http_proxy=self.url)
        self.assertEqual(tool.x(), {"echo": {}})
        self.assertEqual(self.server.requests[0][0], "http://tools.invalid/base/v1/tool")

    def test_a_proxy_gets_the_name_and_password_it_was_given_with(self):
        proxy = self.url.replace("//", "//me:p%40ss@")
        os.environ.update(PI_TOOL_BRIDGE_URL="http://tools.invalid", http_proxy=proxy.removeprefix("http://"))
        self.server.answer = lambda body: (200, {"ok": True})
        tool.x()
        self.assertEqual(self.server.proxy_authorization, "Basic " + base64.b64encode(b"me:p@ss").decode())
        os.environ["http_proxy"] = "http://:1"
        with self.assertRaisesRegex(bridge.BridgeError, "the proxy for http is 'http://:1', which is no"):
            tool.x()

    def test_an_error_has_the_message_of_the_tool(self):
        self.server.answer = lambda body: (200, {"ok": False, "error": "no such file: a"})
        with self.assertRaisesRegex(bridge.BridgeError, "^no such file: a$") as raised:
            tool.read(path="a")
        self.assertIs(type(raised.exception), bridge.BridgeError)
        self.server.answer = lambda body: (500, {"ok": False, "error": {"message": "inner"}})
        with self.assertRaisesRegex(bridge.BridgeError, "^inner$"):
            tool.read(path="a")

    def test_a_token_that_is_refused_is_said(self):
        os.environ["PI_TOOL_BRIDGE_TOKEN"] = "other"
        with self.assertRaisesRegex(bridge.BridgeError, "bad token"):
            tool.read()

    def test_white_space_around_the_token_is_none_of_it(self):
        os.environ["PI_TOOL_BRIDGE_TOKEN"] = TOKEN + "\n"
        self.assertEqual(tool.x({"a": 1}), {"echo": {"a": 1}})

    def test_a_token_that_no_header_can_have_is_not_shown(self):
        for token in ("s3cr3t\nx", "s3cr3t\u2713"):
            os.environ["PI_TOOL_BRIDGE_TOKEN"] = token
            with self.subTest(token), self.assertRaises(bridge.BridgeError) as caught:
                tool.x({})
            self.assertNotIn("s3cr3t", str(caught.exception))

    def test_garbage_is_an_error(self):
        for status, data in ((200, b"<html>"), (200, b"[]"), (404, b""), (200, b'{"ok": 1}')):
            self.server.answer = lambda body: (status, data)
            with self.subTest(data), self.assertRaisesRegex(bridge.BridgeError, f"status {status} and no answer"):
                tool.x()

    def test_nobody_there_and_no_url(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            os.environ["PI_TOOL_BRIDGE_URL"] = f"http://127.0.0.1:{unused.getsockname()[1]}"
            with self.assertRaisesRegex(bridge.BridgeError, "could not be reached: .*refused"):
                tool.x()
        for url in ("ftp://x", "nonsense", "http://", "http://127.0.0.1:99999", "http://127.0.0.1:port"):
            os.environ["PI_TOOL_BRIDGE_URL"] = url
            with self.subTest(url), self.assertRaisesRegex(bridge.BridgeError, "no http or https URL"):
                tool.x()
        self.assertEqual(repr(budget), f"<budget: PI_TOOL_BRIDGE_URL is {url!r}, which is no http or https URL>")
        self.assertEqual(repr(tool), f"<tool: PI_TOOL_BRIDGE_URL is {url!r}, which is no http or https URL>")
        self.assertEqual(dir(tool), [])

    def test_a_server_that_hangs_up_is_an_error(self):
        self.server.answer = lambda body: None
        with self.assertRaisesRegex(bridge.BridgeError, "could not be reached"):
            tool.x()

    def test_many_at_once(self):
        all_here = threading.Barrier(16)
        self.server.answer = lambda body: (all_here.wait(10) and 0) or (200, {"ok": True, "value": body["args"]["n"]})
        self.assertEqual(parallel([lambda n=n: tool.x(n=n) for n in range(16)], 16), list(range(16)))

    def test_awaited_calls_run_at_once(self):
        all_here = threading.Barrier(8)
        self.server.answer = lambda body: (all_here.wait(10) and 0) or (200, {"ok": True, "value": body["args"]["n"]})

        async def ask():
            return await asyncio.gather(*(tool.x.aio(n=n) for n in range(8)))

        self.assertEqual(asyncio.run(ask()), list(range(8)))

    def test_a_cancelled_call_ends_its_thread(self):
        self.check_that_a_cancelled_call_ends_its_thread(begin=lambda: None)

    def test_a_cancelled_call_ends_its_thread_also_when_the_answer_has_begun(self):
        def begin():
            self.server.handler.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n{")
            self.server.handler.wfile.flush()

        self.check_that_a_cancelled_call_ends_its_thread(begin)

    def check_that_a_cancelled_call_ends_its_thread(self, begin):
        arrived, release = threading.Event(), threading.Event()
        self.addCleanup(release.set)
        self.server.answer = lambda body: begin() or arrived.set() or release.wait(10) and None
        before = threading.active_count()

        async def ask():
            task = asyncio.ensure_future(tool.x.aio())
            await asyncio.to_thread(arrived.wait)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task

        asyncio.run(ask())
        deadline = time.monotonic() + 5
        while any(thread.name == "bridge x" for thread in threading.enumerate()) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertNotIn("bridge x", [thread.name for thread in threading.enumerate()])
        self.assertLessEqual(threading.active_count(), before + 1)  # the server still holds the request

    def test_images_in_an_answer_can_be_shown(self):
        png = {"mime": "image/png", "data": base64.b64encode(b"png").decode()}
        self.server.answer = lambda body: (200, {"ok": True, "value": {"chart": {"$image": 0}}, "images": [png]})
        image = tool.draw()["chart"]
        self.assertEqual(image._repr_mimebundle_()["image/png"], b"png")
        self.server.answer = lambda body: (200, {"ok": True, "value": None, "images": [png]})
        self.assertEqual(tool.draw().data, b"png")
        for damaged in ("x", [1], [{"mime": "image/png"}], [{"mime": "image/png", "data": "?"}]):
            self.server.answer = lambda body: (200, {"ok": True, "images": damaged})
            with self.subTest(damaged), self.assertRaisesRegex(bridge.BridgeError, "images that are no list"):
                tool.draw()

    def test_models_and_budget(self):
        answers = {"budget": {"total": 10, "spent": 3, "hard": True}, "agent": "done"}
        self.server.answer = lambda body: (200, {"ok": True, "value": answers[body["name"]]})
        self.assertEqual((budget.remaining(), agent("p")), (7, "done"))

    def test_a_bridge_that_knows_no_budget_has_no_ceiling(self):
        self.server.answer = lambda body: (200, {"ok": body["name"] != "budget", "value": "done", "error": "no such tool"})
        self.assertEqual((budget.total, budget.remaining(), agent("p")), (None, math.inf, "done"))


if __name__ == "__main__":
    unittest.main()
