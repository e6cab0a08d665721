# Ways to take the worker down.

# %% NullPointer | dies | says "SIGSEGV"
import ctypes
ctypes.memset(0, 1, 1)

# %% CStackOverflow | dies | says "SIGSEGV"
import sys
sys.setrecursionlimit(10**9)
deep, other = [], []
for _ in range(10**6): deep, other = [deep], [other]
deep == other

# %% BusError | dies | says "SIGBUS"
import mmap, tempfile
file = tempfile.TemporaryFile()
file.truncate(4096)
window = mmap.mmap(file.fileno(), 4096)
file.truncate(0)
window[0]

# %% Abort | dies | says "last words"
import os
print('last words', end='')
os.abort()

# %% ExitAtOnce | dies | says "exited with code 77"
import os
print('last words')
os._exit(77)

# %% ExitFromThread | dies | says "exited with code 5"
import os, threading
threading.Thread(target=os._exit, args=(5,)).start()
while True: pass

# %% KillsItself | dies | says "SIGKILL"
import os, signal
os.kill(os.getpid(), signal.SIGKILL)

# %% KillsItsGroup | dies | says "SIGHUP"
import os, signal
os.killpg(0, signal.SIGHUP)
while True: pass

# %% KillsItsParent | dies | says "keeper was killed" | ends keeper
import os, signal, time
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(60)

# %% KilledFromOutside | dies | says "SIGKILL" | kill -9 after 200 ms
import time
time.sleep(60)

# %% AlarmWithoutHandler | dies | says "SIGALRM"
import signal, time
signal.setitimer(signal.ITIMER_REAL, 0.05)
time.sleep(60)

# %% FaultHandlerExits | dies | says "exited with code 1"
import faulthandler, time
faulthandler.dump_traceback_later(0.05, exit=True)
time.sleep(60)

# %% BecomesAnotherProgram | dies | says "channel to the host was closed"
import os
os.execv('/bin/sleep', ['sleep', '987'])

# %% SocketsShutDown | dies | says "channel to the host was closed"
import os, socket
for fd in map(int, os.listdir('/proc/self/fd')):
    try: socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
    except OSError: pass
5

# %% DescriptorsOnEverySocket | dies | says "the channel carries"
import os, socket
for fd in map(int, os.listdir('/proc/self/fd')):
    try:
        channel = socket.socket(fileno=os.dup(fd))
        for _ in range(10): socket.send_fds(channel, [b'x'], [0, 1, 2])
    except OSError: pass
5

# %% ThreadOfTheInterpreterEnds | dies | says "SIGABRT"
import ctypes
ctypes.CDLL(None).pthread_exit(0)

# %% InterpreterFinalized | dies
import ctypes
ctypes.pythonapi.Py_Finalize()

# %% OutputUnmapped | dies | says "SIGSEGV"
import ctypes
for line in open('/proc/self/maps'):
    bounds, access, *_ = line.split()
    if access == 'rw-s':
        start, end = (int(bound, 16) for bound in bounds.split('-'))
        ctypes.CDLL(None).munmap(ctypes.c_void_p(start), ctypes.c_size_t(end - start))
print('x')

# %% BecomesAProgramThatEnds | dies
import os
os.execv('/bin/true', ['true'])

# %% TracedByItsParent | completes | says "5"
import ctypes, os, signal
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
os.kill(os.getpid(), signal.SIGWINCH)
5
