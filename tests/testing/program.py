"""Drives the real `cellar` program: through pipes, through a terminal, and with a check that nothing is left behind."""
import ctypes
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest
import uuid

CELLAR = os.environ["CELLAR"]
SLOWNESS = int(os.environ.get("CELLAR_TEST_SLOWNESS", "1"))  # more than 1 under a sanitizer
DEADLINE_S = 30 * SLOWNESS


PR_SET_CHILD_SUBREAPER = 36
# What is left of a server that has died comes to this process, and is found below it.
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def state_and_parent(pid):
    """As /proc has them; OSError when there is no such process."""
    with open(f"/proc/{pid}/stat") as stat:
        state, parent = stat.read().rpartition(")")[2].split()[:2]
        return state, int(parent)


def is_below_this(pid):
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = state_and_parent(pid)[1]
    return False


def processes_of(mark):
    """Living processes whose environment carries `mark` or that came of this one: the keeper of a branch, and what a cell
    starts by `env -i`, have no environment."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            state, parent = state_and_parent(pid)
            with open(f"/proc/{pid}/environ", "rb") as environ:
                if state not in "ZX" and (mark.encode() in environ.read() or is_below_this(parent)):
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_until(predicate, what, deadline_s=DEADLINE_S):
    """Polls to a deadline; returns what the predicate returned."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        value = predicate()
        if value:
            return value
        time.sleep(0.005)
    raise AssertionError(f"not within {deadline_s} s: {what}")


def until_there(path):
    """Code of a cell that goes on when something has that path."""
    return f"import os, time\nwhile not os.path.exists({path!r}): time.sleep(0.01)"


def prints_when_there(path, text):
    """Code of a cell that starts a thread, which prints a line when something has that path, and then says so."""
    return ("import os, threading, time\n"
            "def late():\n"
            f"    while not os.path.exists({path!r}): time.sleep(0.01)\n"
            f"    print({text!r}, flush=True); os.mkdir({path + '.printed'!r})\n"
            "threading.Thread(target=late, daemon=True).start()")


class ProgramTest(unittest.TestCase):
    """Every process a test starts carries a mark or is below this one; none may be left when the test ends."""

    def setUp(self):
        self.mark = f"CELLAR_TEST_MARK={uuid.uuid4()}"
        name, value = self.mark.split("=")
        self.env = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8", "TERM": "xterm",
                    name: value}
        self.addCleanup(self.check_nothing_is_left)

    def check_nothing_is_left(self):
        """Looks twice: one whose parent ends meanwhile may be overlooked once."""
        wait_until(lambda: not processes_of(self.mark) and not processes_of(self.mark), "every process gone", 2 * SLOWNESS)

    def start(self, *args, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        env = {**self.env, **options.pop("env", {})}
        process = subprocess.Popen([CELLAR, *args], env=env, **options)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                self.addCleanup(stream.close)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def run_cellar(self, *args, input=None, **options):
        """(exit code, stdout, stderr) as text."""
        process = self.start(*args, stdin=subprocess.PIPE, **options)
        out, err = process.communicate(input=input, timeout=DEADLINE_S)
        return process.returncode, out.decode(), err.decode()

    def run_json(self, *args, **options):
        code, out, err = self.run_cellar("eval", "--json", *args, **options)
        self.assertEqual(err, "")
        return code, json.loads(out)


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, test, *args, env=None):
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(CELLAR, [CELLAR, *args], {**test.env, **(env or {})})
        test.addCleanup(self.close)

    def send(self, text):
        os.write(self.fd, text.encode())

    def read_some(self, wait_s):
        if not select.select([self.fd], [], [], wait_s)[0]:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            data = b""
        self.output += data
        return bool(data)

    def wait_for(self, text, deadline_s=DEADLINE_S):
        """Waits for `text` on the screen after what was waited for before."""
        end = time.monotonic() + deadline_s
        while text.encode() not in self.output:
            if time.monotonic() > end or (not self.read_some(0.05) and self.exited()):
                raise AssertionError(f"{text!r} never came; the terminal has {self.output!r}")
        before, _, self.output = self.output.partition(text.encode())
        return before.decode(errors="replace")

    def exited(self):
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def exit_code(self):
        end = time.monotonic() + DEADLINE_S
        while self.read_some(0.05) or not self.exited():
            if time.monotonic() > end:
                raise AssertionError(f"it did not exit; the terminal has {self.output!r}")
        _, status = os.waitpid(self.pid, 0)
        self.pid = None
        return os.waitstatus_to_exitcode(status)

    def close(self):
        if self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.fd)


class Screen:
    """The program in tmux, which shows what a person would see."""

    def __init__(self, test, *args, columns=80, rows=24, env=None, stays=False):
        """With `stays` the screen can be looked at when the program has ended."""
        self.socket = f"cellar-{uuid.uuid4()}"
        variables = [f"{name}={value}" for name, value in {**test.env, **(env or {})}.items() if name != "TERM"]
        test.addCleanup(subprocess.run, ["tmux", "-L", self.socket, "kill-server"], capture_output=True)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
                  "env", "-i", "TERM=screen-256color", *variables, CELLAR, *args,
                  *((";", "set-option", "remain-on-exit", "on") if stays else ()))

    def tmux(self, *args):
        result = subprocess.run(["tmux", "-L", self.socket, *args], env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
                                capture_output=True, text=True, timeout=DEADLINE_S)
        if result.returncode:
            raise AssertionError(result.stderr)
        return result.stdout

    def keys(self, *keys):
        """Names of keys as tmux has them (Enter, Up, C-r), or text."""
        self.tmux("send-keys", *keys)

    def enter(self, line, then):
        """Types a line and Enter; waits until the screen ends with `then`."""
        self.keys(line, "Enter")
        self.wait_for(then)

    def paste(self, text):
        self.tmux("set-buffer", text)
        self.tmux("paste-buffer", "-p", "-r")

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self):
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def wait_for(self, text):
        """Waits until the screen ends with `text`."""
        try:
            wait_until(lambda: self.text().endswith(text), "")
        except AssertionError:
            raise AssertionError(f"the screen should end with:\n{text}\nand is:\n{self.text()}") from None

    def wait_to_show(self, text):
        """Waits until `text` is somewhere on the screen."""
        self.wait_to_match(re.escape(text))

    def wait_to_match(self, pattern):
        """The same for a regular expression. Returns what the screen showed."""
        def shown():
            text = self.text()
            return re.search(pattern, text) and text
        try:
            return wait_until(shown, "")
        except AssertionError:
            raise AssertionError(f"the screen should show:\n{pattern}\nand is:\n{self.text()}") from None


def without_colour(text):
    return re.sub(r"\x1b\[[0-9;]*m", "", text)
