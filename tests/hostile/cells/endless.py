# Cells that do not end by themselves.

# %% BusyLoop | interrupted | says "state kept" | time-out 300 ms
n = 0
while True: n += 1

# %% Sleep | interrupted | says "state kept" | time-out 300 ms
import time
time.sleep(10**6)

# %% Await | interrupted | says "state kept" | time-out 300 ms
import asyncio
await asyncio.Event().wait()

# %% AwaitOfABusyTask | interrupted | says "state kept" | time-out 300 ms
import asyncio
async def spin():
    while True: await asyncio.sleep(0)
await spin()

# %% TaskThatHoldsTheLoop | completes
import asyncio, time
async def hold():
    await asyncio.sleep(0.1)
    while True: time.sleep(10)
asyncio.ensure_future(hold())

# %% LockTakenTwice | interrupted | says "state kept" | time-out 300 ms
import threading
lock = threading.Lock()
with lock, lock: pass

# %% JoinOfAThread | interrupted | says "state kept" | time-out 300 ms
import threading, time
thread = threading.Thread(target=time.sleep, args=(987,), daemon=True)
thread.start()
thread.join()

# %% ChildProcess | interrupted | says "state kept" | time-out 300 ms
import subprocess
subprocess.run(['sleep', '987'])

# %% ChildThatIgnoresInterrupts | interrupted | says "state kept" | time-out 300 ms
import subprocess
subprocess.run(['sh', '-c', 'trap "" INT; sleep 987'])

# %% Backtracking | interrupted | says "state kept" | time-out 300 ms
import re
re.match(r'(x+x+)+y', 'x' * 64)

# %% BlockingCWithTheGil | interrupted | says "state kept" | time-out 300 ms
import ctypes
ctypes.PyDLL(None).pause()

# %% InterruptIgnored | interrupted | says "state kept" | time-out 300 ms
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True: pass

# %% InterruptHandled | interrupted | says "state kept" | time-out 300 ms
import signal, time
signal.signal(signal.SIGINT, lambda *_: None)
while True: time.sleep(1)

# %% SignalsBlocked | any ending | says "timed out" | time-out 300 ms
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
while True: pass

# %% InterruptSwallowed | killed | says "killed" | time-out 300 ms
import time
while True:
    try: time.sleep(60)
    except BaseException: pass

# %% CancellationSwallowed | killed | says "killed" | time-out 300 ms
import asyncio
while True:
    try: await asyncio.sleep(60)
    except BaseException: pass

# %% CWithoutReturn | any ending | says "timed out" | time-out 300 ms
import ctypes
libc = ctypes.PyDLL(None)
while libc.pause(): pass

# %% StopsItself | any ending | says "timed out" | time-out 300 ms
import os, signal
os.kill(os.getpid(), signal.SIGSTOP)
5

# %% StopsItsGroup | any ending | says "timed out" | time-out 300 ms
import os, signal
os.killpg(0, signal.SIGSTOP)
5

# %% TimerWithoutEnd | any ending | time-out 300 ms
import signal, time
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while True:
    try: time.sleep(60)
    except ZeroDivisionError: pass

# %% InterpreterHeldByAThread | killed | says "killed" | time-out 300 ms
import ctypes, threading
threading.Thread(target=ctypes.PyDLL(None).sleep, args=(987,), daemon=True).start()
threading.Event().wait()

# %% ExecutorWithoutEnd | interrupted | says "state kept" | time-out 300 ms
import asyncio, time
await asyncio.get_running_loop().run_in_executor(None, time.sleep, 987)

# %% CancellationThatHidesItsClass | interrupted | says "state kept" | time-out 300 ms
import asyncio
class Odd(BaseException):
    __class__ = property(lambda self: 1 / 0)
try: await asyncio.sleep(60)
except asyncio.CancelledError: raise Odd

# %% PipelineWithoutEnd | interrupted | says "state kept" | time-out 300 ms
import itertools
pipeline(itertools.count(), str)

# %% ShieldedTask | interrupted | says "state kept" | time-out 300 ms
import asyncio
async def stubborn():
    while True:
        try: await asyncio.sleep(60)
        except asyncio.CancelledError: pass
await asyncio.shield(asyncio.create_task(stubborn()))

# %% FlushWithoutEnd | interrupted | says "state kept" | time-out 300 ms
import sys, time
class Slow:
    def write(self, text): pass
    def flush(self): time.sleep(60)
sys.stdout = Slow()

# %% HugeNumberAsText | any ending | says "timed out" | time-out 300 ms
import sys
sys.set_int_max_str_digits(0)
str(7**9_000_000)

# %% ReprWithoutEnd | interrupted | says "state kept" | time-out 300 ms
class Slow:
    def __repr__(self):
        while True: pass
Slow()

# %% ErrorTextWithoutEnd | any ending | says "timed out" | time-out 300 ms
class Slow(Exception):
    def __str__(self):
        while True: pass
raise Slow

# %% HtmlWithoutEnd | interrupted | says "state kept" | time-out 300 ms
class Slow:
    def _repr_html_(self):
        while True: pass
Slow()

# %% FiguresWithoutEnd | interrupted | says "state kept" | time-out 300 ms
import sys, types
def hang(*_):
    while True: pass
sys.modules['matplotlib.pyplot'] = types.SimpleNamespace(close=hang)

# %% DelWithoutEnd | any ending | says "timed out" | time-out 300 ms
class Slow:
    def __del__(self):
        while True: pass
slow = Slow()
del slow

# %% RecursionWithoutLimit | any ending | says "timed out" | time-out 300 ms
import sys
sys.setrecursionlimit(10**8)
def deeper(): deeper()
deeper()

# %% WritesForEver | interrupted | says "state kept" | time-out 300 ms
import os
while True: os.write(1, b'y' * 65536)

# %% PrintsForEver | interrupted | says "state kept" | time-out 300 ms
while True: print('all work and no play')

# %% ThreadsPrintForEver | interrupted | says "state kept" | time-out 300 ms
import threading
def chatter():
    while True: print('chatter')
for _ in range(4): threading.Thread(target=chatter, daemon=True).start()
threading.Event().wait()

# %% ChildWritesForEver | interrupted | says "state kept" | time-out 300 ms
import os
os.system('cat /dev/zero')

# %% SignalsAtTheirDefaults | killed | says "the interrupt ended the worker" | time-out 1000 ms
import ctypes, time
libc = ctypes.CDLL(None)
for number in range(1, 65): libc.signal(number, None)
time.sleep(987)

# %% NoRoomForSignals | interrupted | time-out 1000 ms
import resource, signal
resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, 0))
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True: pass
