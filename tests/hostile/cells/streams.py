# What a cell may do to its streams and descriptors.

# %% EveryObjectClosed | completes | says "5"
import gc
for thing in gc.get_objects():
    try:
        if hasattr(thing, 'close') and not isinstance(thing, type): thing.close()
    except BaseException: pass
5

# %% StreamsClosed | completes | says "5"
import sys
sys.stdout.close()
sys.stderr.close()
5

# %% StreamsNone | completes | says "5"
import sys
sys.stdout = sys.stderr = sys.stdin = None
5

# %% StreamsOfAnotherKind | any ending
import sys
sys.stdout = sys.stderr = 5
5

# %% StreamOnAFullDisk | completes | says "No space left"
import sys
sys.stdout = open('/dev/full', 'w')
print('lost')

# %% StreamPatched | completes | says "5"
import sys
sys.stdout.write = sys.stderr.flush = lambda *_: 1 / 0
5

# %% StreamClassPatched | fails | says "immutable"
import sys
type(sys.stdout).write = lambda *_: 1 / 0

# %% StreamBufferPatched | fails | says "immutable"
import sys
sys.stdout.buffer._number = 'x'
sys.stdout.reconfigure(encoding='ascii')
type(sys.stdout.buffer).write = None

# %% StreamOfAnotherEncoding | completes | says "5"
import sys
sys.stdout.reconfigure(encoding='cp037')
5

# %% StdinTakenApart | completes | says "5"
import sys
sys.stdin.renew = sys.stdin.buffer = sys.stdin.ask = None
5

# %% StreamsDetached | completes | says "5"
import sys
sys.stdout.detach()
5

# %% OneAndTwoClosed | completes | says "5"
import os
os.close(1)
os.close(2)
5

# %% OneIsSomethingElse | completes | says "5"
import os
os.dup2(0, 1)
os.dup2(0, 2)
5

# %% LowDescriptorsClosed | completes | says "5"
import os
os.closerange(0, 512)
5

# %% AllDescriptorsClosed | dies | says "channel to the host was closed"
import os
os.closerange(0, 1 << 20)
5

# %% AllDescriptorsReplaced | dies
import os
null = os.open('/dev/null', os.O_RDWR)
for fd in map(int, os.listdir('/proc/self/fd')):
    try: os.dup2(null, fd)
    except OSError: pass
5

# %% GarbageInEveryDescriptor | any ending
import os
for fd in map(int, os.listdir('/proc/self/fd')):
    try: os.write(fd, os.urandom(4096))
    except OSError: pass
5

# %% GarbageInSharedMemory | any ending
import ctypes, os
for line in open('/proc/self/maps'):
    bounds, access, *_ = line.split()
    if access == 'rw-s':
        start, end = (int(bound, 16) for bound in bounds.split('-'))
        ctypes.memmove(start, os.urandom(end - start), end - start)
print('x')
5

# %% StdinRenewExits | completes
import sys
sys.stdin.renew = sys.exit

# %% StdinRenewBlocks | completes | time-out 2000 ms
import sys, time
sys.stdin.renew = lambda: time.sleep(987)

# %% StdinBufferInterrupts | completes
import sys
class Buffer:
    def __setattr__(self, name, value): raise KeyboardInterrupt
sys.stdin.buffer = Buffer()

# %% WrappedStdout | completes
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')

# %% NonBlockingOutput | completes
import os
os.set_blocking(1, False)
os.set_blocking(2, False)

# %% StdinEmptied | completes | says "5"
import sys
vars(sys.stdin).clear()
5

# %% StdinThatWasNeverAsked | completes | says "5"
import sys
sys.stdin.requested = 'no'
5

# %% StdinOfAClassThatRaises | completes | says "5"
import sys
class Evil(type(sys.stdin)):
    requested = property(lambda self: False, lambda self, value: 1 / 0)
sys.stdin.__class__ = Evil
5

# %% StdinOfAClassThatBlocks | completes | says "5"
import sys, time
class Evil(type(sys.stdin)):
    requested = property(lambda self: False, lambda self, value: time.sleep(987))
sys.stdin.__class__ = Evil
5

# %% StdinWithoutAttributes | completes | says "5"
import sys
class Evil(type(sys.stdin)):
    def __getattribute__(self, name): raise ZeroDivisionError(name)
sys.stdin.__class__ = Evil
5

# %% StreamWithAKeyThatBlocks | completes | says "5"
import sys, time
class Odd:
    def __hash__(self): return hash('write')
    def __eq__(self, other): time.sleep(987)
vars(sys.stdout)[Odd()] = 1
5
