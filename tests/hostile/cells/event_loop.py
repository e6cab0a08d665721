# What a cell may do to the loop that it runs in.

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

# %% LoopModuleEmptied | completes
from asyncio import base_events
vars(base_events).clear()

# %% RunningLoopForgotten | completes
import asyncio
asyncio._set_running_loop(None)

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

# %% LoopAttributesEmptied | completes | says "5"
import asyncio
loop = asyncio.get_running_loop()
for name, value in list(vars(loop).items()):
    try: setattr(loop, name, type(value)())
    except Exception: pass
5

# %% ContextEnteredElsewhere | completes | says "5"
import asyncio, threading, time
waited = asyncio.get_running_loop().create_future()
def steal():
    context = waited._callbacks[0][1]
    def enter():
        time.sleep(0.3)
        context.run(time.sleep, 987)
    threading.Thread(target=enter, daemon=True).start()
    waited.set_result(5)
asyncio.get_running_loop().call_soon(steal)
await waited
