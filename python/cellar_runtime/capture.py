"""What `%%capture` does: keeps a cell's output instead of showing it."""
__builtins__ = __import__("builtins").__dict__.copy()

import io
import json
import sys

from cellar_runtime import display, figures, mime

_OPTIONS = ("--no-stdout", "--no-stderr", "--no-display")


class Captured:
    """What a cell would have shown: `stdout`, `stderr`, and `outputs`."""

    def __init__(self):
        self._stdout = _Text(self._before_output)
        self._stderr = _Text(self._before_output)
        self._calls = []
        self._clears_at_next = False  # clear_output(wait=True)

    @property
    def stdout(self) -> str:
        return self._stdout.getvalue()

    @property
    def stderr(self) -> str:
        return self._stderr.getvalue()

    @property
    def outputs(self) -> "list[CapturedOutput]":
        return [CapturedOutput((name, _decoded(kind, data)) for name, kind, data in entries)
                for what, entries, *_ in self._calls if what == "display"]

    def show(self) -> None:
        """Shows now what was captured."""
        sys.stdout.write(self.stdout)
        sys.stderr.write(self.stderr)
        for call in self._calls:
            display.publish_encoded(*call)

    __call__ = show

    def _add(self, call):
        if call[0] != "clear":
            self._before_output()
            self._calls.append(call)
        elif b"true" in call[2]:
            self._clears_at_next = True
        else:
            self._clear()

    def _before_output(self):
        if self._clears_at_next:
            self._clear()

    def _clear(self):
        self._clears_at_next = False
        self._calls.clear()
        for text in (self._stdout, self._stderr):
            text.seek(0)
            text.truncate()

    def __str__(self):
        return self.stdout


class CapturedOutput(dict):
    """What was displayed, by MIME type: str, bytes or a JSON value."""

    @property
    def data(self) -> dict:
        """The same, as IPython has it."""
        return self


def _decoded(kind, data):
    if kind == mime.KIND_BYTES:
        return data
    text = data.decode()
    return json.loads(text) if kind == mime.KIND_JSON else text


class _Text(io.StringIO):
    def __init__(self, before_write):
        super().__init__()
        self._before_write = before_write

    def write(self, text):
        self._before_write()
        return super().write(text)


class Capture:
    """The scope in which output is captured."""

    def __init__(self, options: list[str]):
        unknown = [option for option in options if option not in _OPTIONS]
        if unknown:
            raise ValueError(f"%%capture does not know {', '.join(unknown)}; there are {', '.join(_OPTIONS)}")
        self._options = options
        self._captured = Captured()
        self._publish_before = None

    def __enter__(self):
        self._before = sys.stdout, sys.stderr
        if "--no-stdout" not in self._options:
            sys.stdout = self._captured._stdout
        if "--no-stderr" not in self._options:
            sys.stderr = self._captured._stderr
        if "--no-display" not in self._options:
            self._publish_before = display.redirect(self._publish)
        return self._captured

    def __exit__(self, *_):
        try:
            if self._publish_before is not None:
                figures.flush_figures()  # those of the cell would be shown at its end
        finally:  # also when the cell is interrupted while they are drawn
            sys.stdout, sys.stderr = self._before
            if self._publish_before is not None:
                display.redirect(self._publish_before)

    def _publish(self, *call):
        # Status events are no output: they tell that the cell is alive.
        if call[0] == "status":
            self._publish_before(*call)
        else:
            self._captured._add(call)
