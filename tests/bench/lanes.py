"""Work that may hurt the process it is done in, several pieces at a time. Each has a lane: a process of its own, which
bounds the memory of all that it starts and, as a subreaper, is the parent of all that is left behind. Nothing outlives its
lane."""
import ctypes
import json
import os
import resource
import select
import signal
import time

from compare_sides import descendants, parents

# For each process. It keeps recursion without limit, and threads without number, from taking the whole machine.
DATA_BYTES = 2 << 30
PR_SET_CHILD_SUBREAPER = 36


def run_in_lanes(jobs, work, limit_s, count):
    """Yields each job and what is known of it, in the order in which they end. work(job) yields objects, whose fields are
    then known, as is the `error` that it raises. Its lane may die before it has yielded all of them; after limit_s(job) it
    is `stalled`, and killed."""
    become_subreaper()
    waiting, lanes = list(reversed(jobs)), []
    try:
        while waiting or lanes:
            while waiting and len(lanes) < count:
                job = waiting.pop()
                lanes.append(Lane(job, work, limit_s(job)))
            select.select([lane.reports for lane in lanes], [], [], 1)
            over = [lane for lane in lanes if lane.is_over()]
            lanes = [lane for lane in lanes if lane not in over]
            end_others({lane.pid for lane in lanes})
            for lane in over:
                os.close(lane.reports)
                yield lane.job, lane.known
    finally:
        end_others()


class Lane:
    def __init__(self, job, work, limit_s):
        self.job, self.known, self.partial = job, {}, b""
        self.end = time.monotonic() + limit_s
        self.reports, write_end = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.live(work, write_end)
            finally:
                os._exit(1)
        os.close(write_end)
        os.set_blocking(self.reports, False)

    def live(self, work, write_end):
        os.setsid()
        become_subreaper()
        resource.setrlimit(resource.RLIMIT_DATA, (DATA_BYTES, DATA_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        try:
            for facts in work(self.job):
                os.write(write_end, json.dumps(facts).encode() + b"\n")
        except Exception as error:
            os.write(write_end, json.dumps({"error": repr(error)}).encode() + b"\n")
        finally:
            end_others()

    def is_over(self):
        try:
            while data := os.read(self.reports, 65536):
                *lines, self.partial = (self.partial + data).split(b"\n")
                for line in lines:
                    self.known.update(json.loads(line))
            return True
        except BlockingIOError:
            self.known["stalled"] = time.monotonic() >= self.end
            return self.known["stalled"]


def become_subreaper():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def end_others(spared=()):
    """Kills all that is below this process, but for those children that are spared and what is below them."""
    while True:
        reap()
        others = [pid for pid, parent in parents().items() if parent == os.getpid() and pid not in spared]
        if not others:
            return
        for pid in others:
            for each in descendants(pid):
                kill(each)
        time.sleep(0.01)


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
