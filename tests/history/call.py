"""What a client is told of one call, frame by frame. Nothing is changed by a frame that is found wrong."""
import collections

from cell_code import beginnings, ended, lines_of
from session_model import Violation


def stdout_of(outputs):
    return "".join(output["text"] for output in outputs if output["type"] == "stdout")


def died_too_often(error):
    return error["ename"] == "SessionRefused" and "times in a row" in error["evalue"]


def tells_of_close(cell):
    return cell["state_detail"] == "the session was closed, state lost"


class Call:
    def __init__(self, id, client, session, tokens, resets, sent):
        self.id, self.client, self.session, self.tokens, self.resets, self.sent = id, client, session, tokens, resets, sent
        self.begun = 0  # cells
        self.text = collections.defaultdict(str)  # by token, as it came
        self.background = []  # texts, as they came
        self.finished = {}  # by token: the cell, as its frame said
        self.status = self.error = None  # of the answer
        self.runs = {}  # by token, as the answer says
        self.ended = None  # when

    def check_next(self, cell):
        """A cell begins once, also when it is run again, and when the one before is complete."""
        if cell != self.begun:
            raise Violation(f"{self.id}: cell {cell} began when {self.begun} was the next")
        if cell > 0 and self.finished.get(self.tokens[cell - 1], {}).get("status") != "complete":
            raise Violation(f"{self.id}: cell {cell} began, and the one before it is not complete")

    def running(self):
        """The token of the cell that runs, or None."""
        token = self.tokens[self.begun - 1] if self.begun > 0 else None
        return None if token in self.finished else token

    def token_of(self, frame):
        """Of the cell that the frame is about, which must be the one that runs."""
        cell = frame["cell"]
        if self.running() is None or cell != self.begun - 1:
            raise Violation(f"{self.id}: {self.begun} cells have begun, {len(self.finished)} ended, and now: {frame}")
        return self.tokens[cell]

    def check_cell(self, token, cell, lineage):
        """The worker's pid and what the cell found; None if it did not come to tell."""
        text = self.text[token]
        for other, word in lines_of(text):
            # What a cell's child writes is known by its time alone, and an interrupt may leave a child that nobody waits for.
            if other != token and not (word == "child" and lineage.may_tell(other, self) and lineage.was_cut_short(other)):
                raise Violation(f"output of {other} under {token}: {text!r}")
        begun = beginnings(text, token)
        if len(begun) > cell["runs"]:
            raise Violation(f"{token} began {len(begun)} times: {cell}")
        if cell["status"] == "complete" and (not begun or not ended(text, token)):
            raise Violation(f"{token} is complete without its output: {cell}")
        return begun[-1] if begun else (None, None)

    def check_answer(self, done, lineage):
        if done["status"] == "refused":
            return self.check_refused(done)
        result = done["result"]
        for token, cell in zip(self.tokens, result["cells"], strict=True):
            text = stdout_of(cell["outputs"])
            if text != self.text[token]:
                raise Violation(f"{token} sent {self.text[token]!r} and its result has {text!r}")
            finished = self.finished.get(token, {})
            unlike = [key for key in cell if key != "outputs" and cell[key] != finished.get(key)]
            if unlike and (finished or cell["runs"] > 0):
                raise Violation(f"{token} is told in two ways, by {unlike}: {finished} {cell}")
        background = stdout_of(result["background"])
        for text in self.background:
            if text not in background:
                raise Violation(f"{self.id}: {text!r} came as background, and the result has {background!r}")
        self.check_background(background, lineage)

    def check_background(self, text, lineage, running=None):
        """Of what earlier cells have started, here or where this session branched off. Own cells may have done so too."""
        for token, word in lines_of(text):
            if token == running or word in ("begin", "line", "end"):
                raise Violation(f"{self.id}: output of a cell as background: {text!r}")
            if not lineage.may_tell(token, self):
                raise Violation(f"{self.id}, on {self.session}: output of {token}, which cannot be there: {text!r}")

    def check_refused(self, done):
        """For good reasons only, and when nothing was done."""
        if done["error"]["ename"] != "Cancelled" and not died_too_often(done["error"]):
            raise Violation(f"refused: {done}")
        if self.finished or any(self.text.values()):
            raise Violation(f"{self.id} is refused, and has told {self.finished} {dict(self.text)}")

    def end(self, done, moment):
        self.status, self.error, self.ended = done["status"], done.get("error"), moment
        cells = done.get("result", {}).get("cells", [])
        self.runs = {**dict.fromkeys(self.tokens, 0), **{token: cell["runs"] for token, cell in zip(self.tokens, cells)}}
        # There are many calls in five minutes.
        self.text.clear()
        self.background.clear()

    def needs_reset(self):
        return self.error is not None and died_too_often(self.error)
