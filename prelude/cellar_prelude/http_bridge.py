"""Bridge calls by HTTP: one POST to /v1/tool for each, answered with {"ok": true, "value"} or {"ok": false, "error"}.
An answer may carry "images": [{"mime", "data" in base64}]; see cellar_runtime.image for where they stand."""
__builtins__ = __import__("builtins").__dict__.copy()

import asyncio
import io
import json
import select
import socket
import threading
from base64 import b64decode, b64encode
from contextlib import suppress
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ipaddress import ip_address
from time import monotonic
from urllib.parse import unquote, urlsplit

import _cellar
from cellar_prelude import bridge
from cellar_runtime import late_import, safe_json
from cellar_runtime.image import Image, place_images

CALL_LIMIT_S = 3600
CONNECT_LIMIT_S = 30
MAX_ANSWER_BYTES = 64 << 20
# Between two looks a thread can be interrupted; see work.py.
_LOOK_S = 0.1
_PATH = "/v1/tool"


class HttpProvider:
    """Answers come from `url`."""

    def __init__(self, url: str, token: str, session: str):
        self._url = _parsed(url)
        if self._url is None:
            raise bridge.BridgeError(f"PI_TOOL_BRIDGE_URL is {url!r}, which is no http or https URL")
        self._token = token.strip()  # a mounted secret ends in a newline
        if not (self._token.isascii() and self._token.isprintable()):
            raise bridge.BridgeError("PI_TOOL_BRIDGE_TOKEN has characters that an HTTP header cannot have")
        self._session = session

    def call(self, name: str, args: dict):
        return self._exchange(name, args).run()

    async def acall(self, name: str, args: dict):
        exchange = self._exchange(name, args)
        loop = asyncio.get_running_loop()
        answer = loop.create_future()

        def settle(value, error):
            if not answer.done():
                answer.set_exception(error) if error else answer.set_result(value)

        def run():
            try:
                outcome = (settle, exchange.run(), None)
            except KeyboardInterrupt:
                outcome = (answer.cancel,)
            except Exception as error:
                outcome = (settle, None, error)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(*outcome)

        threading.Thread(target=run, name=f"bridge {name}", daemon=True).start()
        try:
            return await answer
        finally:
            exchange.abort()

    def tools(self):
        return None  # the protocol has no way to ask

    def budget(self) -> dict:
        _, answer = self._exchange(bridge.BUDGET, {}).ask()
        return answer.get("value") if answer["ok"] else {}  # it knows of none

    def _exchange(self, name, args):
        call = {"session": self._session, "run": str(_cellar.current_cell()), "name": name, "args": args}
        return _Exchange(self._url, self._token, safe_json.dumps(call))


class _Exchange:
    """One request and its answer."""

    def __init__(self, url, token, body):
        self._url = url
        self._token = token
        self._body = body
        self._where = f"the tool bridge at {url.scheme}://{url.netloc}"
        self._connection = None
        self._socket = None  # also when the connection has given it up, to be closed with the answer
        self._aborted = False

    def run(self):
        """The value that it is answered with."""
        status, answer = self.ask()
        if not answer["ok"]:
            message = _message(answer.get("error"))
            raise bridge.BridgeError(message or f"{self._where} said no, and not why (status {status})")
        return _with_images(self._where, answer.get("value"), answer.get("images", []))

    def ask(self):
        """The status, and the answer, yes or no."""
        try:
            with bridge.elsewhere() as host, self._send(host) as response:
                data = response.read(MAX_ANSWER_BYTES + 1)
        except (OSError, HTTPException) as error:
            raise bridge.BridgeError(f"{self._where} could not be reached: {error or type(error).__name__}") from None
        finally:
            if self._connection is not None:
                self._connection.close()
        if len(data) > MAX_ANSWER_BYTES:
            raise bridge.BridgeError(f"{self._where} answered with more than {MAX_ANSWER_BYTES >> 20} MiB")
        return response.status, _answer(self._where, response.status, data)

    def abort(self):
        """Ends a run that another thread is in."""
        self._aborted = True
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _send(self, host):
        self._connection, target, headers = _route(self._url)
        headers["Content-Type"] = "application/json"
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        self._connection.request("POST", target, self._body, headers)
        self._socket = self._connection.sock
        self._socket.settimeout(CALL_LIMIT_S)
        wait = partial(self._wait, host, monotonic() + CALL_LIMIT_S)
        self._connection.response_class = lambda sock, **options: HTTPResponse(_Answer(sock, wait), **options)
        return self._connection.getresponse()

    def _wait(self, host, deadline):
        """Until more of the answer comes. `host` may be None: it then knows nothing of the wait, and ends it no earlier."""
        sock = self._socket.fileno()
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        if host is not None:
            poll.register(host, select.POLLIN)
        while sock not in (ready := dict(poll.poll(_LOOK_S * 1000))):
            if ready and not host.hear():
                poll.unregister(host)
            if self._aborted or monotonic() > deadline:
                raise TimeoutError(f"no answer within {CALL_LIMIT_S} seconds")


class _Answer(io.RawIOBase):
    """What a socket receives. Before it would block, it waits in a way that can be ended."""

    def __init__(self, sock, wait):
        self._raw = sock.makefile("rb", buffering=0)
        self._pending = getattr(sock, "pending", lambda: 0)  # what TLS has received, and poll does not see
        self._wait = wait

    def makefile(self, _mode):
        return io.BufferedReader(self)

    def readable(self):
        return True

    def readinto(self, buffer):
        if not self._pending():
            self._wait()
        return self._raw.readinto(buffer)

    def close(self):
        self._raw.close()
        super().close()


def _parsed(url):
    """The parts of a URL, or None when it is none that can be asked."""
    try:
        parts = urlsplit(url)
        return parts if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 else None
    except ValueError:  # a port that is none
        return None


def _route(url):
    """The connection, what to ask it for, and the headers that this way needs."""
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    path = url.path.rstrip("/") + _PATH
    proxy = None if _is_loopback(url.hostname) else _proxy_of(url)
    if proxy is None:
        return kind(url.hostname, url.port, timeout=CONNECT_LIMIT_S), path, {}
    connection = kind(proxy.hostname, proxy.port, timeout=CONNECT_LIMIT_S)
    if url.scheme == "https":
        connection.set_tunnel(url.hostname, url.port, _credentials(proxy))
        return connection, path, {}
    return connection, f"{url.scheme}://{url.netloc}{path}", _credentials(proxy)


def _is_loopback(host):
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _proxy_of(url):
    proxies = late_import.load("urllib.request")
    given = proxies.getproxies().get(url.scheme)
    if not given or proxies.proxy_bypass(url.hostname):
        return None
    proxy = _parsed(given if "://" in given else f"http://{given}")
    if proxy is None:
        raise bridge.BridgeError(f"the proxy for {url.scheme} is {given!r}, which is no http or https URL")
    return proxy


def _credentials(proxy):
    if proxy.username is None:
        return {}
    name = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(name.encode()).decode()}"}


def _answer(where, status, data):
    try:
        answer = json.loads(data)
    except ValueError:
        answer = None
    if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
        text = data[:200].decode("utf-8", "replace")
        raise bridge.BridgeError(f"{where} answered with status {status} and no answer to the call: {text!r}")
    return answer


def _with_images(where, value, images):
    if not images:
        return value
    try:
        return place_images(value, [Image(b64decode(image["data"], validate=True), str(image["mime"])) for image in images])
    except (KeyError, TypeError, ValueError, RecursionError):
        raise bridge.BridgeError(f"{where} answered with images that are no list of mime and data in base64") from None


def _message(error):
    if isinstance(error, dict):
        error = error.get("message", error)
    return error if isinstance(error, str) else str(error or "")
