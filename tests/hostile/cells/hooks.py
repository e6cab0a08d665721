# What a cell may leave behind in its interpreter: handlers, timers, tracers, hooks, locks.

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

# %% FaultTimerLeftRunning | completes | says "was stopped"
import faulthandler
faulthandler.dump_traceback_later(0.05, exit=True)
5

# %% ErrorWithABlockingDel | fails | says "work failed"
import time
class Connection:
    def __del__(self): time.sleep(987)
def work():
    connection = Connection()
    raise ValueError('work failed')
work()
