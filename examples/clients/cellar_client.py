"""Runs cells through `cellar serve`, with nothing but the standard library.

    python3 cellar_client.py           # needs `cellar` on PATH, or its path in CELLAR
"""
import json
import os
import subprocess


class Cellar:
    def __init__(self, **tools):
        """`tools` are functions that cells may call as tool.<name>; each gets its arguments as a dict."""
        self.tools = tools
        self.requests = 0
        self.server = subprocess.Popen([os.environ.get("CELLAR", "cellar"), "serve"], encoding="utf-8",
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.request("tools", tools=[{"name": name, "description": tool.__doc__ or ""} for name, tool in tools.items()])

    def eval(self, code, session="main", on_text=lambda text: None):
        """Runs a cell and returns its result as a dict; what it prints goes to `on_text` while it runs."""
        return self.request("eval", on_text, session=session, cells=[{"code": code}])["result"]

    def request(self, type, on_text=lambda text: None, **fields):
        """Sends a request and returns its last frame."""
        self.requests += 1
        id = str(self.requests)
        self._send(id=id, type=type, **fields)
        for frame in map(json.loads, self.server.stdout):
            if frame["type"] == "call":
                self._send(type="reply", call=frame["call"], **self._answer(frame))
            elif frame["type"] in ("stdout", "stderr"):
                on_text(frame["text"])
            elif frame["type"] == "done" and frame["id"] == id:
                if frame["status"] == "refused":
                    raise RuntimeError(frame["error"]["evalue"])
                return frame
        raise EOFError("cellar has ended")

    def close(self):
        """Ends the sessions, and everything their cells have started."""
        self.server.communicate()

    def _answer(self, call):
        try:
            return {"value": self.tools[call["name"]](call["args"])}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _send(self, **frame):
        print(json.dumps(frame), file=self.server.stdin, flush=True)


if __name__ == "__main__":
    def weather(args):
        """The weather in a city."""
        return f"sunny in {args['city']}"

    cellar = Cellar(weather=weather)
    cellar.eval("x = 6")
    print(cellar.eval("print('working'); x * 7", on_text=lambda text: print(text, end=""))["text"])
    print(cellar.eval("tool.weather({'city': 'Lisbon'})")["text"])
    print(cellar.eval("1 / 0")["cells"][0]["error"]["evalue"])
    cellar.close()
