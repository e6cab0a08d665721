# The world around the worker.

# %% DirectoryGone | completes | says "5"
import os, tempfile
place = tempfile.mkdtemp()
os.chdir(place)
os.rmdir(place)
5

# %% EnvironmentGone | completes | says "5"
import os
os.environ.clear()
5

# %% NoMoreDescriptors | completes | says "Too many open files"
import os
taken = []
try:
    while True: taken.append(os.open('/dev/null', os.O_RDONLY))
except OSError as error: print(error)

# %% DescriptorLimitZero | completes | says "5"
import resource
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
5

# %% NoMoreMemory | completes | says "5"
import resource
for limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
    resource.setrlimit(limit, (1 << 20, resource.getrlimit(limit)[1]))
5

# %% NoFilesForGood | any ending
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
5

# %% NoFilesForGoodWhileAwaiting | any ending
import asyncio, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
await asyncio.sleep(0.1)

# %% SmallStack | completes | says "5"
import resource
resource.setrlimit(resource.RLIMIT_STACK, (65536, resource.getrlimit(resource.RLIMIT_STACK)[1]))
5

# %% FileSizeZero | completes | says "x"
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print('x')
5

# %% ProcessLimitOne | completes | says "5"
import resource
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
5

# %% CpuLimit | dies | says "SIGKILL"
import resource
resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
while True: pass

# %% HugeAllocation | fails | says "MemoryError"
bytearray(1 << 50)

# %% MemoryLimit | fails | says "MemoryError"
import resource
resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))
block = []
while True: block.append(bytearray(1 << 20))

# %% FullOfSmallObjects | fails | says "MemoryError"
import resource
resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))
small = []
while True: small.append(str(len(small)) * 20)

# %% FullAddressSpace | fails | says "MemoryError"
import resource
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
small = []
while True: small.append(str(len(small)) * 20)

# %% FullAndSilent | any ending
import resource
resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))
small = []
try:
    while True: small.append(str(len(small)) * 20)
except MemoryError: pass
5

# %% FullWhileShown | any ending | says "MemoryError"
import resource
resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))
small = []
class Shown:
    def __repr__(self):
        while True: small.append(str(len(small)) * 20)
Shown()

# %% ManyThreads | completes | says "5"
import threading, time
for _ in range(500): threading.Thread(target=time.sleep, args=(987,), daemon=True).start()
5

# %% ThreadThatStays | completes | says "5"
import threading
threading.Thread(target=threading.Event().wait).start()
5

# %% ThreadsThatFail | completes | says "5"
import threading
for _ in range(50): threading.Thread(target=lambda: 1 / 0).start()
5

# %% ExitHandlerHangs | completes | says "5"
import atexit, time
atexit.register(time.sleep, 987)
5

# %% ExitHandlerExits | completes | says "5"
import atexit, os
atexit.register(os._exit, 9)
5

# %% DelRaises | completes | says "ZeroDivisionError"
class Heap:
    def __del__(self): 1 / 0
Heap()
5

# %% ForkReturnsTwice | completes | says "5"
import os
os.fork() and 5

# %% ForkedChildRaises | completes | says "1"
import os
if os.fork() == 0: 1 / 0
os.wait()[1] >> 8

# %% ForkedChildExits | completes | says "6"
import os, sys
if os.fork() == 0: sys.exit(6)
os.wait()[1] >> 8

# %% ForkedChildAwaits | completes | says "5"
import asyncio, os
child = os.fork()
await asyncio.sleep(0.01)
if child: os.waitpid(child, 0)
5

# %% ForkedChildStays | completes | says "5"
import os, time
if os.fork() == 0: time.sleep(987)
5

# %% ForkFromAThread | completes | says "5"
import os, threading
def fork():
    child = os.fork()
    if child == 0: return
    os.waitpid(child, 0)
thread = threading.Thread(target=fork)
thread.start()
thread.join()
5

# %% ForkBomb | completes | says "5"
import os, time
for _ in range(6): os.fork()
if os.getppid() and os.getpgid(0) != os.getpid(): time.sleep(987)
5

# %% Daemon | completes | says "5"
import subprocess
subprocess.run(['sh', '-c', 'setsid sleep 987 & exit'])
5

# %% DaemonOfASubreaper | completes | says "5"
import ctypes, subprocess
ctypes.CDLL(None).prctl(36, 1)
subprocess.run(['sh', '-c', '(setsid sleep 987 &) ; exit'])
5

# %% OwnNamespaces | completes | says "5"
import ctypes
ctypes.CDLL(None).unshare(0x20000000 | 0x00020000)
import os
if os.fork() == 0: os._exit(0)
5

# %% OwnRoot | completes | says "5"
import os
try: os.chroot('/proc')
except OSError: pass
5

# %% StopsItsParent | completes | says "5"
import os, signal
os.kill(os.getppid(), signal.SIGSTOP)
5

# %% TracesItsParent | completes | says "5"
import ctypes, os
ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)
5

# %% StubbornDaemon | completes | says "5"
import subprocess
subprocess.Popen(['sh', '-c', 'trap "" TERM INT HUP; while :; do sleep 987; done'], start_new_session=True)
5

# %% StoppedChild | completes | says "5"
import os, signal, subprocess
os.kill(subprocess.Popen(['sleep', '987']).pid, signal.SIGSTOP)
5

# %% ChildThatKillsUs | dies | says "SIGSEGV"
import os
os.system(f'kill -SEGV {os.getpid()}; sleep 987')

# %% ChildThatStopsUs | any ending | says "timed out" | time-out 300 ms
import os
os.system(f'kill -STOP {os.getpid()}; sleep 987')

# %% Pool | completes | says "[1, 2]"
import multiprocessing
with multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))

# %% ProcessPoolLeft | completes | says "5"
import concurrent.futures
pool = concurrent.futures.ProcessPoolExecutor(2)
pool.submit(abs, -5).result()

# %% DeviceAsAProgram | fails | says "not a regular file"
%run /dev/zero

# %% DeviceLoaded | fails | says "not a regular file"
%load /dev/zero

# %% SharedMemoryLeft | completes | says "5"
from multiprocessing.shared_memory import SharedMemory
block = SharedMemory(create=True, size=1 << 20)
5

# %% InputAsked | fails | says "no standard input"
input('name? ')

# %% InputOfAChild | completes | says "0"
import os
os.system('cat')

# %% Debugger | fails | says "no standard input"
breakpoint()
x = 5

# %% Terminal | fails | says "/dev/tty"
open('/dev/tty')

# %% KeeperWithoutDescriptors | completes | says "5"
import os, resource, subprocess
resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
subprocess.Popen(['sh', '-c', 'sleep 987 & sleep 987'], start_new_session=True)
5

# %% SiblingsStoppedThenDeath | dies | says "exited with code 3" | time-out 1000 ms
import os, signal
for entry in os.listdir('/proc'):
    if not entry.isdigit() or int(entry) == os.getpid(): continue
    try: parent = int(open(f'/proc/{entry}/stat').read().rsplit(')', 1)[1].split()[1])
    except OSError: continue
    if parent == os.getppid(): os.kill(int(entry), signal.SIGSTOP)
os._exit(3)

# %% RawFork | completes | says "forked True"
import ctypes, os
child = ctypes.CDLL(None).syscall(57)
if child: os.waitpid(child, 0)
print('forked', child != 0)

# %% ForkOfTheCLibrary | completes | says "forked True"
import ctypes, os
child = ctypes.CDLL(None)._Fork()
if child: os.waitpid(child, 0)
print('forked', child != 0)

# %% RawForkChildStays | completes | says "5"
import ctypes, time
if ctypes.CDLL(None).syscall(57) == 0: time.sleep(987)
5

# %% RawForkAwaits | completes | says "side True"
import asyncio, ctypes
child = ctypes.CDLL(None).syscall(57)
await asyncio.sleep(0.05)
print('side', child != 0)

# %% RawForkOfACallback | completes | says "5"
import asyncio, ctypes
asyncio.get_running_loop().call_soon(ctypes.CDLL(None).syscall, 57)
await asyncio.sleep(0.05)
5

# %% ParentOfARawForkWaits | any ending | time-out 300 ms
import ctypes, time
if ctypes.CDLL(None).syscall(56, 0x4000 | 17, 0, 0, 0, 0) == 0: time.sleep(987)
5

# %% KeeperStoppedThenDeath | dies | says "exited with code 3" | time-out 1000 ms
import os, signal
os.kill(os.getppid(), signal.SIGSTOP)
os._exit(3)

# %% StopsTheTemplate | completes | says "5"
import os, signal
template = int(open(f'/proc/{os.getppid()}/stat').read().rsplit(')', 1)[1].split()[1])
if 'cellar' in open(f'/proc/{template}/comm').read(): os.kill(template, signal.SIGSTOP)
5
