"""The three that are compared. Each side starts, runs a cell and waits, opens one more session, and so on; what a side
cannot do it does not have."""
import json
import os
import select
import signal
import subprocess
import sys
import time

from jupyter_client import KernelManager

LIMIT_S = 60  # for anything that should take no time
SILENCE_S = 5  # after it, nothing more of a kernel's output is going to come


def proportional(pids):
    """Bytes of memory of processes, shared pages divided among those that share them."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as rollup:
                total += next(int(line.split()[1]) for line in rollup if line.startswith("Pss:")) << 10
        except (OSError, StopIteration):
            pass
    return total


def state(pid):
    """As ps has it: S sleeps, T is stopped; Z is dead and not collected, as is what is not there."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def wait_until(holds, limit_s=LIMIT_S):
    """Whether it held in time."""
    end = time.perf_counter() + limit_s
    while not holds():
        if time.perf_counter() > end:
            return False
        time.sleep(0.001)
    return True


def kill(pid):
    """Only a process that is known: 0 and -1 mean groups, up to all that there are."""
    if pid <= 1:
        raise ValueError(f"no process: {pid}")
    os.kill(pid, signal.SIGKILL)


def peak(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) << 10


def parents():
    """The parent of each process that has not ended."""
    found = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                fields = stat.read().rpartition(")")[2].split()
                if fields[0] != "Z":
                    found[int(entry)] = int(fields[1])
        except OSError:
            pass
    return found


def descendants(pid):
    pairs = parents().items()
    found = [pid]
    for each in found:
        found += [child for child, parent in pairs if parent == each]
    return found


class Cellar:
    """`cellar serve`, spoken to over pipes."""
    name = "cellar"

    def __init__(self, program):
        self.program = program
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)
        self.partial, self.lines, self.number = b"", [], 0
        self.receive(lambda frame: frame["type"] == "hello")

    def send(self, type, **fields):
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "type": type, **fields}).encode() + b"\n")
        return self.number

    def receive(self, fits, limit_s=LIMIT_S):
        """The first frame that fits; None when none has come in time."""
        end = time.perf_counter() + limit_s
        while True:
            while not self.lines:
                if not select.select([self.process.stdout], [], [], max(0, end - time.perf_counter()))[0]:
                    return None
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                if not data:
                    raise RuntimeError("cellar serve has ended")
                *self.lines, self.partial = (self.partial + data).split(b"\n")
                self.lines.reverse()
            frame = json.loads(self.lines.pop())
            if fits(frame):
                return frame

    def ask(self, type, **fields):
        number = self.send(type, **fields)
        return self.receive(lambda frame: frame.get("id") == number and frame["type"] == "done")

    def begin(self, code, session="s", **fields):
        return self.send("eval", session=session, cells=[{"code": code, "timeout": 0}], **fields)

    def next_reply(self, limit_s=LIMIT_S):
        """The number and the reply of the next request that has ended; None when none has in time."""
        done = self.receive(lambda frame: frame["type"] == "done", limit_s)
        return done and (done["id"], done)

    def end(self, number, limit_s=LIMIT_S):
        return self.receive(lambda frame: frame.get("id") == number and frame["type"] == "done", limit_s)

    def run(self, code, session="s", **fields):
        return self.end(self.begin(code, session, **fields))

    def is_fine(self, reply):
        return reply["status"] == "ok"

    def wait_for_text(self, text):
        self.receive(lambda frame: frame["type"] == "stdout" and text in frame["text"])

    def text_of(self, number):
        """All that a cell prints, up to its end."""
        text = []
        def is_last(frame):
            if frame.get("id") == number and frame["type"] == "stdout":
                text.append(frame["text"])
            return frame.get("id") == number and frame["type"] == "done"
        self.receive(is_last)
        return "".join(text)

    def interrupt(self):
        self.send("interrupt", session="s")

    def wait_for_death(self, number):
        """Until it is told that the worker of a cell has died."""
        self.end(number)

    def reset(self):
        self.ask("reset", session="s")

    def session(self, name="s"):
        return next(session for session in self.ask("sessions")["sessions"] if session["id"] == name)

    def worker(self):
        # There is none while it is being made, and a signal to -1 hits every process of the machine.
        end = time.perf_counter() + LIMIT_S
        while (pid := self.session()["worker_pid"]) <= 0:
            if time.perf_counter() > end:
                raise RuntimeError("the session has no worker")
        return pid

    def restart(self):
        self.process.kill()
        self.close()
        self.start()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Kernel:
    """ipykernel, through the blocking client that its users have."""
    name = "ipykernel"

    def __init__(self):
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.connect()

    def connect(self):
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=LIMIT_S)

    def begin(self, code):
        # Otherwise an error may take the next cell with it, though that was sent after the reply.
        return self.client.execute(code, stop_on_error=False)

    def next_reply(self, limit_s=LIMIT_S):
        """The number and the reply of the next cell that has ended; None when none has in time."""
        try:
            reply = self.client.get_shell_msg(timeout=max(0.001, limit_s))
        except Exception:  # queue.Empty, or what a hostile cell has made of a message
            return None
        return reply["parent_header"].get("msg_id"), reply

    def end(self, number, limit_s=LIMIT_S):
        """The reply, and only after it what was printed up to the end of the cell; None when it has not come in time."""
        end = time.perf_counter() + limit_s
        while next_reply := self.next_reply(end - time.perf_counter()):
            if next_reply[0] == number:
                return next_reply[1]
        return None

    def run(self, code):
        number = self.begin(code)
        reply = self.end(number)
        self.text_of(number)
        return reply

    def is_fine(self, reply):
        return reply["content"]["status"] == "ok"

    def text_of(self, number):
        """All that a cell printed, up to the message that says it has ended, which may be lost too."""
        text = []
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=SILENCE_S)
            except Exception:  # queue.Empty
                break
            if message["parent_header"].get("msg_id") != number:
                continue
            if message["msg_type"] == "stream":
                text.append(message["content"]["text"])
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                break
        return "".join(text)

    def wait_for_text(self, text):
        while True:
            message = self.client.get_iopub_msg(timeout=LIMIT_S)
            if message["msg_type"] == "stream" and text in message["content"]["text"]:
                return

    def interrupt(self):
        self.manager.interrupt_kernel()

    def wait_for_death(self, number):
        """No reply tells of it; the client's heartbeat does."""
        wait_until(lambda: not self.client.hb_channel.is_beating())

    def worker(self):
        return self.manager.provisioner.process.pid

    def restart(self):
        self.client.stop_channels()
        self.manager.restart_kernel(now=True)
        self.connect()

    reset = restart

    def close(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


class Plain:
    """`python3 -i` on a pipe."""
    name = "python"

    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-i", "-q", "-u", "-c", "import sys; sys.ps1 = sys.ps2 = ''"],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0)

    def run(self, code):
        self.process.stdin.write(f"{code}\nprint('.')\n".encode())
        data = b""
        while not data.endswith(b".\n"):
            data += os.read(self.process.stdout.fileno(), 65536)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
