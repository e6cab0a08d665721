# What a cell may break in its own interpreter.

# %% BuiltinsRemoved | completes
import builtins
for name in ('print', 'len', 'isinstance', 'open'): delattr(builtins, name)

# %% BuiltinsNone | completes
import builtins
builtins.print = builtins.getattr = builtins.RuntimeError = None

# %% BuiltinsHang | completes
import builtins
def hang(*_, **__):
    while True: pass
for name in ('len', 'isinstance', 'getattr', 'range', 'min', 'print', 'repr', '__build_class__'): setattr(builtins, name, hang)

# %% BuiltinsExit | completes
import builtins
def leave(*_, **__): raise SystemExit
for name in ('len', 'isinstance', 'getattr', 'range', 'min', 'print', 'repr', '__import__'): setattr(builtins, name, leave)

# %% ExceptionsReplaced | completes
import builtins
class Other(BaseException): pass
for name, value in list(vars(builtins).items()):
    if isinstance(value, type) and issubclass(value, BaseException): setattr(builtins, name, Other)

# %% BuiltinsClassRaises | completes | says "5"
import builtins, types
class Angry(types.ModuleType):
    def __getattribute__(self, name): raise ZeroDivisionError(name)
builtins.__class__ = Angry
5

# %% AllBuiltinsRemoved | any ending
import builtins
vars(builtins).clear()

# %% BuiltinsOfTheNamespace | completes
__builtins__ = {}

# %% NamesThatCompareBadly | completes
class Odd:
    def __init__(self, name): self.name = name
    def __hash__(self): return hash(self.name)
    def __eq__(self, other): raise ZeroDivisionError('compared')
for name in ('_', '__builtins__', '__name__', 'In', 'Out'): globals()[Odd(name)] = globals().pop(name)

# %% NamespaceCleared | completes | forgets names
globals().clear()

# %% NoName | completes
del __name__

# %% ImportFails | completes
import builtins
builtins.__import__ = lambda *_, **__: 1 / 0

# %% ModulesCleared | completes
import sys
sys.modules.clear()

# %% CoreModulesRemoved | completes
import sys
for name in ('builtins', 'sys', 'os', 'asyncio', 'io'): sys.modules.pop(name, None)

# %% EveryModuleNone | completes | says "5"
import sys
for name in list(sys.modules): sys.modules[name] = None
5

# %% EveryModuleEmptied | any ending
import sys
for module in list(sys.modules.values()):
    if module is not sys.modules['__main__'] and not module.__name__.startswith(('cellar', '_cellar')): vars(module).clear()

# %% RuntimeModulesReplaced | completes | says "5"
import sys
for name in list(sys.modules):
    if name.startswith(('cellar', '_cellar')): sys.modules[name] = 5
5

# %% RuntimeModulesReloaded | completes | says "5"
import importlib, sys
for name in list(sys.modules):
    if name.startswith(('cellar', '_cellar')): importlib.reload(sys.modules[name])
print('x')
5

# %% SysClassRaises | completes | says "5"
import sys, types
class Angry(types.ModuleType):
    def __getattribute__(self, name): raise ZeroDivisionError(name)
sys.__class__ = Angry
5

# %% SysClassExits | completes | says "5"
import sys, types
class Angry(types.ModuleType):
    __class__ = property(lambda self: exit())
    def __getattribute__(self, name): raise SystemExit(name)
sys.__class__ = Angry
5

# %% SysOfProperties | completes | says "5"
import sys, types
class Angry(types.ModuleType):
    stdout = stderr = property(lambda self: 1 / 0)
    modules = path = property(lambda self: {})
sys.__class__ = Angry
5

# %% ImportPathGone | completes
import sys
sys.path = sys.meta_path = sys.path_hooks = None

# %% ClockRaises | completes
import time
time.monotonic = time.time = time.sleep = lambda *_: 1 / 0

# %% ClockStands | completes
import time
time.monotonic = lambda: 0.0

# %% SelectorPatched | completes
import selectors
selectors.PollSelector.select = None

# %% LoopPatched | completes
import asyncio
asyncio.BaseEventLoop._run_once = asyncio.BaseEventLoop.call_soon = asyncio.Handle._run = None

# %% LoopMarkedClosed | completes | says "5"
import asyncio
asyncio.get_running_loop()._closed = True
5

# %% LoopWithoutItsParts | completes | says "5"
import asyncio
loop = asyncio.get_running_loop()
loop._ready = loop._scheduled = loop._selector = None
5

# %% LoopOfOtherMethods | completes | says "5"
import asyncio, time
loop = asyncio.get_running_loop()
loop.call_soon = loop._run_once = loop.time = lambda *_, **__: 1 / 0
loop._selector.select = lambda timeout=None: time.sleep(987)
5

# %% AnotherTaskEntered | completes | says "5"
import asyncio
asyncio.tasks._enter_task(asyncio.get_running_loop(), 'nobody')
5

# %% WeakSetPatched | completes | says "5"
import _weakrefset
_weakrefset.WeakSet.add = _weakrefset.WeakSet.discard = None
5

# %% AstPatched | completes | says "5"
import ast
ast.Expr._fields = ast.Module._fields = ast.Expression.__init__ = None
5

# %% EveryObjectClosed | completes | says "5"
import gc
for thing in gc.get_objects():
    try:
        if hasattr(thing, 'close') and not isinstance(thing, type): thing.close()
    except BaseException: pass
5

# %% LoopModuleEmptied | completes
from asyncio import base_events
vars(base_events).clear()

# %% SysEmptied | any ending
import sys
for name in dir(sys):
    if not name.startswith('__'): setattr(sys, name, None)

# %% RunningLoopForgotten | completes
import asyncio
asyncio._set_running_loop(None)

# %% JsonPatched | completes
import json
json.dumps = json.loads = None

# %% TracebackPatched | fails | says "ZeroDivisionError"
import linecache, traceback
linecache.getline = linecache.getlines = linecache.cache = None
for name in list(vars(traceback)):
    if not name.startswith('__'): setattr(traceback, name, None)
1 / 0

# %% OsPatched | fails | says "ZeroDivisionError"
import os
os.write = os.read = os.getpid = os._exit = os.environ = os.fsdecode = None
1 / 0

# %% AsyncioPatched | fails | says "ZeroDivisionError"
import asyncio
asyncio.CancelledError = asyncio.current_task = asyncio.Task = asyncio.events._get_running_loop = None
1 / 0

# %% ThreadingPatched | completes
import threading
threading.current_thread = threading._active = threading.get_ident = None

# %% LoopStopped | completes | says "5"
import asyncio
asyncio.get_running_loop().stop()
5

# %% LoopStoppedWhileAwaiting | completes | says "5"
import asyncio
asyncio.get_running_loop().stop()
await asyncio.sleep(0.01)
5

# %% LoopClosed | fails
import asyncio
asyncio.get_running_loop().close()

# %% LoopReplaced | completes | says "5"
import asyncio
asyncio.set_event_loop(None)
asyncio.set_event_loop_policy(None)
5

# %% LoopHandlerRaises | completes | says "5"
import asyncio
loop = asyncio.get_running_loop()
loop.set_exception_handler(lambda *_: 1 / 0)
loop.call_soon(lambda: 1 / 0)
await asyncio.sleep(0.01)
5

# %% LoopCallbackExits | completes | says "5"
import asyncio
asyncio.get_running_loop().call_soon(exec, 'raise SystemExit')
await asyncio.sleep(0.01)
5

# %% AllTasksCancelled | completes | says "5"
import asyncio
for task in asyncio.all_tasks(): task.cancel()
5

# %% TaskFactoryRaises | completes | says "5"
import asyncio
asyncio.get_running_loop().set_task_factory(lambda *_, **__: 1 / 0)
5

# %% ReadersRemoved | completes | says "5"
import asyncio
loop = asyncio.get_running_loop()
for fd in range(2_000): loop.remove_reader(fd)
5

# %% SelectorClosed | completes | says "5"
import asyncio
asyncio.get_running_loop()._selector.close()
5

# %% GeneratorThatWillNotClose | completes | says "5"
import asyncio
async def numbers():
    try: yield 1
    finally:
        while True: await asyncio.sleep(0)
generator = numbers()
await generator.__anext__()
del generator
5

# %% AsyncExceptions | fails | says "SystemExit"
import ctypes, threading
main = ctypes.c_ulong(threading.main_thread().ident)
ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(SystemExit))
5

# %% AsyncioRun | fails | says "cannot be called from a running event loop"
import asyncio
asyncio.run(asyncio.sleep(0))

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

# %% EverySignalHandled | completes | says "5"
import signal
for number in signal.valid_signals():
    try: signal.signal(number, lambda *_: 1 / 0)
    except OSError: pass
5

# %% TimerLeftRunning | any ending | says "was stopped"
import signal
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
5

# %% AlarmLeftRunning | completes | says "was stopped"
import signal
signal.alarm(1)
5

# %% PosixTimerLeftRunning | completes | says "was stopped"
import ctypes
libc, timer = ctypes.CDLL(None), ctypes.c_void_p()
libc.timer_create(0, None, ctypes.byref(timer))
libc.timer_settime(timer, 0, (ctypes.c_long * 4)(0, 0, 0, 300_000_000), None)
5

# %% InterruptsItself | fails | says "KeyboardInterrupt"
import _thread, os, signal
_thread.interrupt_main()
os.kill(os.getpid(), signal.SIGINT)
5

# %% NoWakeup | completes | says "5"
import signal
signal.set_wakeup_fd(-1)
5

# %% FaultHandlerOff | completes | says "5"
import faulthandler
faulthandler.disable()
5

# %% TraceRaises | fails | says "ZeroDivisionError"
import sys
sys.settrace(lambda *_: 1 / 0)
(lambda: 5)()

# %% ProfileRaises | fails | says "ZeroDivisionError"
import sys
sys.setprofile(lambda *_: 1 / 0)
len('')

# %% HooksRaise | completes | says "5"
import sys, threading
sys.excepthook = sys.displayhook = sys.unraisablehook = threading.excepthook = lambda *_: 1 / 0
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
class Heap:
    def __del__(self): 1 / 0
Heap()
5

# %% AuditHookRaises | completes | says "5"
import sys
armed = True
def hook(event, _):
    if armed and event in ('compile', 'exec', 'object.__getattr__'): raise RuntimeError(event)
sys.addaudithook(hook)
armed = False
5

# %% AuditHookRaisesForEver | completes
import sys
sys.addaudithook(lambda *_: 1 / 0)

# %% AuditHookExits | completes
import sys
def hook(*_): raise SystemExit
sys.addaudithook(hook)

# %% AuditHookHangs | completes
import sys
def hook(event, _):
    while event in ('compile', 'exec'): pass
sys.addaudithook(hook)

# %% AuditHookCompiles | completes | says "5"
import sys
sys.addaudithook(lambda *_: compile('1', 'x', 'eval'))
5

# %% LowRecursionLimit | any ending
import sys
for limit in range(1, 1000):
    try: sys.setrecursionlimit(limit)
    except RecursionError: continue
    break
5

# %% SlowThreadSwitch | completes | says "5"
import sys
sys.setswitchinterval(1000)
5

# %% CollectorCallbackRaises | completes | says "5"
import gc
gc.callbacks.append(lambda *_: 1 / 0)
gc.collect()
5

# %% ForkHookHangs | completes | says "5"
import os, time
os.register_at_fork(before=lambda: time.sleep(987))
5

# %% ForkHookHangsAfterwards | completes | says "5"
import os, time
os.register_at_fork(after_in_parent=lambda: time.sleep(987))
5

# %% ForkHookForks | completes | says "5"
import os
depth = 0
def more():
    global depth
    depth += 1
    if depth < 3: os.fork()
os.register_at_fork(before=more, after_in_parent=more)
5

# %% ThreadListLockHeld | completes | says "5"
import _thread, threading, time
def hold():
    with threading._active_limbo_lock:
        held.set()
        time.sleep(987)
held = threading.Event()
_thread.start_new_thread(hold, ())
held.wait()
5

# %% ThreadWithoutAName | completes | says "5"
import threading, time
class Nameless(threading.Thread):
    name = property(lambda self: time.sleep(987), lambda self, name: None)
Nameless(target=time.sleep, args=(987,), daemon=True).start()
5

# %% RandomStateHangs | completes | says "5"
import random, sys, time
random.getstate = random.setstate = sys._current_frames = lambda *_: time.sleep(987)
5

# %% RandomStateHangsInItsGenerator | completes | says "5"
import random, time
class Slow(random.Random):
    gauss_next = property(lambda self: time.sleep(987), lambda self, value: None)
random._inst.__class__ = Slow
5

# %% RandomStateExits | completes | says "5"
import random
class Leaving(random.Random):
    gauss_next = property(lambda self: exit(), lambda self, value: None)
random._inst.__class__ = Leaving
5

# %% Subinterpreter | completes | says "5"
import _xxsubinterpreters
other = _xxsubinterpreters.create()
5

# %% LoggingLockHeld | completes | says "5"
import logging, threading, time
def hold():
    logging._acquireLock()
    held.set()
    time.sleep(987)
held = threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
5

# %% ImportLockHeld | completes | says "5"
import _imp, threading, time
def hold():
    _imp.acquire_lock()
    held.set()
    time.sleep(987)
held = threading.Event()
threading.Thread(target=hold, daemon=True).start()
held.wait()
5

# %% ImportLockLeft | completes | says "5"
import _imp
_imp.acquire_lock()
5

# %% TimerAtNoTime | completes | says "5"
import asyncio
asyncio.get_running_loop().call_at('tomorrow', print)
5

# %% TimersOfAnotherKind | completes | says "5"
import asyncio
asyncio.get_running_loop()._scheduled.append(5)
5

# %% CallbacksOfAnotherKind | completes | says "5"
import asyncio
asyncio.get_running_loop()._ready.extend(range(100))
5

# %% LoopWithoutClockResolution | completes | says "5"
import asyncio
asyncio.get_running_loop()._clock_resolution = None
asyncio.get_running_loop().call_later(0.01, int)
5

# %% LoopAttributesCleared | completes | says "5"
import asyncio
vars(asyncio.get_running_loop()).clear()
5

# %% LoopAttributesNone | completes | says "5"
import asyncio
loop = asyncio.get_running_loop()
vars(loop).update(dict.fromkeys(vars(loop)))
5

# %% SelectorAttributesCleared | completes | says "5"
import asyncio
vars(asyncio.get_running_loop()._selector).clear()
5

# %% LoopOfAnotherClass | completes | says "5"
import asyncio
asyncio.get_running_loop().__class__ = asyncio.SelectorEventLoop
5

# %% LoopInAThread | completes | says "5"
import asyncio, threading
loop = asyncio.get_running_loop()
def run():
    loop._thread_id = None
    loop.run_forever()
threading.Thread(target=run, daemon=True).start()
5

# %% FaultTimerLeftRunning | completes | says "was stopped"
import faulthandler
faulthandler.dump_traceback_later(0.05, exit=True)
5

# %% ContextVariablesNone | completes | says "shown"
import contextvars
for variable in contextvars.copy_context(): variable.set(None)
print('shown')

# %% ContextVariablesOfNoCell | completes | says "shown"
import contextvars
for variable in contextvars.copy_context(): variable.set(999)
print('shown')

# %% ContextVariablesOfAnotherCell | completes | says "5"
import contextvars
for variable in contextvars.copy_context(): variable.set(1)
5

# %% SurrogatesRaise | completes | says "\ufffd"
import codecs
codecs.register_error('surrogatepass', lambda error: 1 / 0)
class Odd:
    def __repr__(self): return '\ud800'
Odd()

# %% LongDisplayId | fails | says "1000 are allowed"
display(1, display_id='x' * 10**6)

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

# %% LinecacheBlocks | completes | time-out 2000 ms
import linecache, time
class Cache(dict):
    def __setitem__(self, name, value): time.sleep(987)
linecache.cache = Cache()

# %% LinecacheRaises | completes
import linecache
class Failure(BaseException): pass
class Cache(dict):
    def __setitem__(self, name, value): raise Failure
    get = __getitem__ = __contains__ = __setitem__
linecache.cache = Cache()

# %% LinecacheDeleted | completes
import linecache
del linecache.cache

# %% LoopSocketExits | completes
import asyncio, sys
class Socket:
    def fileno(self): sys.exit(3)
asyncio.get_running_loop()._ssock = Socket()

# %% LoopThreadInterrupts | completes
import asyncio
class Thread:
    def __eq__(self, other): raise KeyboardInterrupt
asyncio.get_running_loop()._thread_id = Thread()

# %% WrappedStdout | completes
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')

# %% NonBlockingOutput | completes
import os
os.set_blocking(1, False)
os.set_blocking(2, False)

# %% ErrorWithABlockingDel | fails | says "work failed"
import time
class Connection:
    def __del__(self): time.sleep(987)
def work():
    connection = Connection()
    raise ValueError('work failed')
work()
