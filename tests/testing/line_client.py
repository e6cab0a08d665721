"""A client of the line protocol, for tests: sends lines, collects frames by the id of their request."""
import collections
import json
import select
import socket
import time

from program import DEADLINE_S


def dial(test, path):
    """A client of the daemon that listens there, for as long as the test runs."""
    connection = socket.socket(socket.AF_UNIX)
    test.addCleanup(connection.close)
    connection.connect(path)
    stream = connection.makefile("rwb", buffering=0)
    test.addCleanup(stream.close)
    client = LineClient(stream, stream)
    client.connection = connection
    return client


def listens(test, path):
    """Whether a daemon does."""
    try:
        client = dial(test, path)
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    client.leave()
    return True


class LineClient:
    """`out` is where requests are written and `into` where frames are read: file objects without buffers."""

    def __init__(self, out, into, hello=True):
        self.out, self.into = out, into
        self.partial = b""  # of the line under way
        self.lines = collections.deque()
        self.frames = collections.deque()  # not asked for yet
        self.hello = self.next_frame() if hello else None

    def leave(self):
        """Of one that was dialled."""
        self.into.close()
        self.connection.close()

    def send_bytes(self, data):
        view = memoryview(data)
        while view:
            view = view[self.out.write(view):]

    def send(self, **request):
        self.send_bytes(json.dumps(request).encode() + b"\n")

    def read_frame(self, deadline_s=DEADLINE_S):
        """The next frame from the server; None at the end of the stream."""
        end = time.monotonic() + deadline_s
        while not self.lines:
            if not select.select([self.into], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no frame within {deadline_s} s")
            data = self.into.read(1 << 20)
            if not data:
                return None
            *lines, self.partial = (self.partial + data).split(b"\n")
            self.lines.extend(lines)
        return json.loads(self.lines.popleft())

    def next_frame(self, id=None, type=None, **options):
        """The next frame of that request and type; what comes before it of other requests is kept."""
        def fits(frame):
            return frame is None or ((id is None or frame.get("id") == id) and (type is None or frame["type"] == type))
        for frame in self.frames:
            if fits(frame):
                self.frames.remove(frame)
                return frame
        while not fits(frame := self.read_frame(**options)):
            self.frames.append(frame)
        return frame

    def frames_of(self, id, **options):
        """All frames of a request, up to its last; text that came in several frames is put together."""
        frames = []
        while not frames or frames[-1]["type"] != "done":
            frame = self.next_frame(id, **options)
            key = "data" if isinstance(frame.get("data"), str) else "text"
            if frames and key in frame and {**frames[-1], key: ""} == {**frame, key: ""}:
                frames[-1][key] += frame[key]
            else:
                frames.append(frame)
        return frames

    def printed(self, id, until):
        """What a request's cells print, in however many frames, up to and including `until`."""
        text = ""
        while not text.endswith(until):
            text += self.next_frame(id, "stdout")["text"]
        return text

    def done(self, id, **options):
        return self.next_frame(id, "done", **options)

    def ask(self, type, **fields):
        """The last frame of a request that has no others."""
        self.send(id="ask", type=type, **fields)
        return self.done("ask")

    def eval(self, *codes, id="eval", **fields):
        self.send(id=id, type="eval", cells=[{"code": code} for code in codes], **fields)
        return self.done(id)

    def value(self, code, **fields):
        """The value of a cell as text; a cell that failed is a failed test."""
        done = self.eval(code, **fields)
        if done["status"] != "ok":
            raise AssertionError(done)
        return done["result"]["text"]
