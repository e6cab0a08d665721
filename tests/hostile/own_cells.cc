// Named for what they do; each is written for one way to hurt.
#include <span>

#include "tests/hostile/hostile_cell.h"

namespace cellar::host {
namespace {

using enum Ending;

constexpr absl::Duration kShort = absl::Milliseconds(300);

std::string Repeated(std::string_view text, size_t times) {
  std::string all;
  while (times-- > 0) all += text;
  return all;
}

// Ways to take the worker down.
const HostileCell kDeaths[] = {
    {"NullPointer", "import ctypes\nctypes.memset(0, 1, 1)", kDies, "SIGSEGV"},
    {"CStackOverflow", R"(
import sys
sys.setrecursionlimit(10**9)
deep = []
for _ in range(10**6): deep = [deep]
repr(deep))",
     kDies, "SIGSEGV"},
    {"BusError", R"(
import mmap, tempfile
file = tempfile.TemporaryFile()
file.truncate(4096)
window = mmap.mmap(file.fileno(), 4096)
file.truncate(0)
window[0])",
     kDies, "SIGBUS"},
    {"Abort", "import os\nprint('last words', end='')\nos.abort()", kDies, "last words"},
    {"ExitAtOnce", "import os\nprint('last words')\nos._exit(77)", kDies, "exited with code 77"},
    {"ExitFromThread",
     "import os, threading\nthreading.Thread(target=os._exit, args=(5,)).start()\nwhile True: pass",
     kDies, "exited with code 5"},
    {"KillsItself", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", kDies, "SIGKILL"},
    {"KillsItsGroup", "import os, signal\nos.killpg(0, signal.SIGHUP)\nwhile True: pass", kDies,
     "SIGHUP"},
    {"KillsItsParent",
     "import os, signal, time\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)",
     kDies,
     "keeper was killed",
     absl::Seconds(10),
     {},
     false,
     true},
    {"KilledFromOutside", "import time\ntime.sleep(60)", kDies, "SIGKILL", absl::Seconds(10),
     absl::Milliseconds(200)},
    {"AlarmWithoutHandler",
     "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0.05)\ntime.sleep(60)", kDies,
     "SIGALRM"},
    {"FaultHandlerExits",
     "import faulthandler, time\nfaulthandler.dump_traceback_later(0.05, "
     "exit=True)\ntime.sleep(60)",
     kDies, "exited with code 1"},
    {"BecomesAnotherProgram", "import os\nos.execv('/bin/sleep', ['sleep', '987'])", kDies,
     "channel to the host was closed"},
    {"SocketsShutDown", R"(
import os, socket
for fd in map(int, os.listdir('/proc/self/fd')):
    try: socket.socket(fileno=os.dup(fd)).shutdown(socket.SHUT_RDWR)
    except OSError: pass
5)",
     kDies, "channel to the host was closed"},
    {"DescriptorsOnEverySocket", R"(
import os, socket
for fd in map(int, os.listdir('/proc/self/fd')):
    try:
        channel = socket.socket(fileno=os.dup(fd))
        for _ in range(10): socket.send_fds(channel, [b'x'], [0, 1, 2])
    except OSError: pass
5)",
     kDies, "the channel carries"},
    {"ThreadOfTheInterpreterEnds", "import ctypes\nctypes.CDLL(None).pthread_exit(0)", kDies,
     "SIGABRT"},
    {"InterpreterFinalized", "import ctypes\nctypes.pythonapi.Py_Finalize()", kDies},
    {"OutputUnmapped", R"(
import ctypes
for line in open('/proc/self/maps'):
    bounds, access, *_ = line.split()
    if access == 'rw-s':
        start, end = (int(bound, 16) for bound in bounds.split('-'))
        ctypes.CDLL(None).munmap(ctypes.c_void_p(start), ctypes.c_size_t(end - start))
print('x'))",
     kDies, "SIGSEGV"},
    {"BecomesAProgramThatEnds", "import os\nos.execv('/bin/true', ['true'])", kDies},
};

// Cells that do not end by themselves.
const HostileCell kEndless[] = {
    {"BusyLoop", "n = 0\nwhile True: n += 1", kInterrupted, "state kept", kShort},
    {"Sleep", "import time\ntime.sleep(10**6)", kInterrupted, "state kept", kShort},
    {"Await", "import asyncio\nawait asyncio.Event().wait()", kInterrupted, "state kept", kShort},
    {"AwaitOfABusyTask", R"(
import asyncio
async def spin():
    while True: await asyncio.sleep(0)
await spin())",
     kInterrupted, "state kept", kShort},
    {"LockTakenTwice", "import threading\nlock = threading.Lock()\nwith lock, lock: pass",
     kInterrupted, "state kept", kShort},
    {"JoinOfAThread",
     "import threading, time\nthread = threading.Thread(target=time.sleep, args=(987,), "
     "daemon=True)\n"
     "thread.start()\nthread.join()",
     kInterrupted, "state kept", kShort},
    {"ChildProcess", "import subprocess\nsubprocess.run(['sleep', '987'])", kInterrupted,
     "state kept", kShort},
    {"ChildThatIgnoresInterrupts",
     "import subprocess\nsubprocess.run(['sh', '-c', 'trap \"\" INT; sleep 987'])", kInterrupted,
     "state kept", kShort},
    {"Backtracking", "import re\nre.match(r'(x+x+)+y', 'x' * 64)", kInterrupted, "state kept",
     kShort},
    {"BlockingCWithTheGil", "import ctypes\nctypes.PyDLL(None).pause()", kInterrupted, "state kept",
     kShort},
    {"InterruptIgnored",
     "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass", kInterrupted,
     "state kept", kShort},
    {"InterruptHandled",
     "import signal, time\nsignal.signal(signal.SIGINT, lambda *_: None)\nwhile True: "
     "time.sleep(1)",
     kInterrupted, "state kept", kShort},
    {"SignalsBlocked",
     "import signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\nwhile True: "
     "pass",
     std::nullopt, "timed out", kShort},
    {"InterruptSwallowed",
     "import time\nwhile True:\n    try: time.sleep(60)\n    except BaseException: pass", kKilled,
     "killed", kShort},
    {"CancellationSwallowed", R"(
import asyncio
while True:
    try: await asyncio.sleep(60)
    except BaseException: pass)",
     kKilled, "killed", kShort},
    {"CWithoutReturn", "import ctypes\nlibc = ctypes.PyDLL(None)\nwhile libc.pause(): pass",
     std::nullopt, "timed out", kShort},
    {"StopsItself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n5", std::nullopt,
     "timed out", kShort},
    {"StopsItsGroup", "import os, signal\nos.killpg(0, signal.SIGSTOP)\n5", std::nullopt,
     "timed out", kShort},
    {"TimerWithoutEnd", R"(
import signal, time
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while True:
    try: time.sleep(60)
    except ZeroDivisionError: pass)",
     std::nullopt, "", kShort},
    {"InterpreterHeldByAThread", R"(
import ctypes, threading
threading.Thread(target=ctypes.PyDLL(None).sleep, args=(987,), daemon=True).start()
threading.Event().wait())",
     kKilled, "killed", kShort},
    {"ExecutorWithoutEnd", R"(
import asyncio, time
await asyncio.get_running_loop().run_in_executor(None, time.sleep, 987))",
     kInterrupted, "state kept", kShort},
    {"ShieldedTask", R"(
import asyncio
async def stubborn():
    while True:
        try: await asyncio.sleep(60)
        except asyncio.CancelledError: pass
await asyncio.shield(asyncio.create_task(stubborn())))",
     kInterrupted, "state kept", kShort},
    {"FlushWithoutEnd", R"(
import sys, time
class Slow:
    def write(self, text): pass
    def flush(self): time.sleep(60)
sys.stdout = Slow())",
     kInterrupted, "state kept", kShort},
    {"HugeNumberAsText", "import sys\nsys.set_int_max_str_digits(0)\nstr(7**9_000_000)",
     std::nullopt, "timed out", kShort},
    {"ReprWithoutEnd", "class Slow:\n    def __repr__(self):\n        while True: pass\nSlow()",
     kInterrupted, "state kept", kShort},
    {"ErrorTextWithoutEnd",
     "class Slow(Exception):\n    def __str__(self):\n        while True: pass\nraise Slow",
     std::nullopt, "timed out", kShort},
    {"HtmlWithoutEnd", "class Slow:\n    def _repr_html_(self):\n        while True: pass\nSlow()",
     kInterrupted, "state kept", kShort},
    {"DelWithoutEnd",
     "class Slow:\n    def __del__(self):\n        while True: pass\nslow = Slow()\ndel slow",
     std::nullopt, "timed out", kShort},
    {"RecursionWithoutLimit",
     "import sys\nsys.setrecursionlimit(10**8)\ndef deeper(): deeper()\ndeeper()", std::nullopt,
     "timed out", kShort},
    {"WritesForEver", "import os\nwhile True: os.write(1, b'y' * 65536)", kInterrupted,
     "state kept", kShort},
    {"PrintsForEver", "while True: print('all work and no play')", kInterrupted, "state kept",
     kShort},
    {"ThreadsPrintForEver", R"(
import threading
def chatter():
    while True: print('chatter')
for _ in range(4): threading.Thread(target=chatter, daemon=True).start()
threading.Event().wait())",
     kInterrupted, "state kept", kShort},
    {"ChildWritesForEver", "import os\nos.system('cat /dev/zero')", kInterrupted, "state kept",
     kShort},
};

// Output of every size and kind.
const HostileCell kOutput[] = {
    {"OneLineOf64MiB", "print('x' * (64 << 20))", kCompletes, "shortened"},
    {"ResultOf64MiB", "'x' * (64 << 20)", kCompletes},
    {"ListOfMillions", "list(range(5_000_000))", kCompletes},
    {"ErrorOf64MiB", "raise ValueError('x' * (64 << 20))", kFails, "ValueError"},
    {"InvalidUtf8", R"(import sys; sys.stdout.buffer.write(b'\xff\xfe<\xc3>\n'))", kCompletes,
     "\xef\xbf\xbd"},
    {"LoneSurrogates", R"('\ud800', '\udfff')", kCompletes, R"(\ud800)"},
    {"LoneSurrogatePrinted", R"(print('<\ud800>'))", kCompletes, R"(<\ud800>)"},
    {"LoneSurrogateRaised", R"(raise ValueError('<\ud800>'))", kFails, "<\xef\xbf\xbd>"},
    {"LoneSurrogateAsClassName", R"(raise type('E\ud800', (Exception,), {}))", kFails},
    {"NulBytes", R"(print('<\0>'))", kCompletes, "<>"},
    {"TerminalSequences", R"(print('<\x1b[2J\x1b]0;title\x07>'))", kCompletes, "<>"},
    {"BrokenFloatsAsJson",
     "display({'application/json': {'a': float('nan'), 'b': -float('inf')}}, raw=True)",
     kCompletes},
    {"CircularJson",
     "circle = {}\ncircle['circle'] = circle\ndisplay({'application/json': circle}, raw=True)",
     kCompletes},
    {"DeepJson", "deep = []\nfor _ in range(100_000): deep = [deep]\ndisplay(deep)\ndel deep",
     kCompletes},
    {"StrangeMimeBundle", R"(
class Strange:
    def _repr_mimebundle_(self, **_): return {5: b'\xff', 'text/html': object(), None: None, 'x' * 10**6: 'y'}
Strange())",
     kCompletes},
    {"ManyDisplays", "for i in range(20_000): display(i)", kCompletes},
    {"ReprRaises", "class Shy:\n    def __repr__(self): 1 / 0\nShy()", kCompletes,
     "ZeroDivisionError"},
    {"ReprExits", "class Shy:\n    def __repr__(self): raise SystemExit\nShy()", kCompletes,
     "SystemExit"},
    {"ReprRecurses", "class Shy:\n    def __repr__(self): return repr(self)\nShy()", kCompletes,
     "RecursionError"},
    {"ReprIsNoText", "class Shy:\n    def __repr__(self): return 5\nShy()", kCompletes,
     "TypeError"},
    {"GetattrRaises",
     "class Shy:\n    def __getattribute__(self, name): raise SystemExit(name)\nShy()", kCompletes},
    {"ClassLies", "class Liar:\n    __class__ = property(lambda self: 1 / 0)\nLiar()", kCompletes,
     "Liar"},
    {"ErrorTextRaises",
     "class Shy(Exception):\n    def __str__(self): raise self\n    __repr__ = __str__\nraise Shy",
     kFails, "Shy"},
    {"MetaclassRaises", R"(
class Meta(type):
    def __repr__(self): 1 / 0
    def __getattr__(self, name): raise SystemExit
    def __eq__(self, other): raise MemoryError
    __hash__ = None
class Shy(metaclass=Meta): pass
Shy)",
     kCompletes, "ZeroDivisionError"},
    {"TextOfAnotherKind", R"(
class Text(str):
    def __len__(self): 1 / 0
    def __str__(self): 1 / 0
    def encode(self, *_): 1 / 0
class Odd:
    def __repr__(self): return Text('<odd>')
Odd())",
     kCompletes, "<odd>"},
    {"TracebackIntoADevice", "exec(compile('1 / 0', '/dev/zero', 'exec'))", kFails,
     "ZeroDivisionError"},
    {"TracebackIntoAPipe", R"(
import os, tempfile
with tempfile.TemporaryDirectory() as place:
    os.mkfifo(place + '/pipe')
    code = compile('1 / 0', place + '/pipe', 'exec')
    exec(code))",
     kFails, "ZeroDivisionError"},
    {"NotesOfEveryKind", R"(
error = ValueError('noted')
error.__notes__ = ['n' * 10**6] * 100 + [object()]
raise error)",
     kFails, "noted"},
    {"HalfASequence", R"(print('<\x1b[', end=''))", kCompletes, "<"},
    {"CombiningMarks", R"(print('<a' + '\u0301' * 500_000 + '>'))", kCompletes},
    {"DeepHtml", "display({'text/html': '<div>' * 100_000}, raw=True)", kCompletes, "too complex"},
    {"ManyUpdates",
     "shown = display(0, display_id=True)\nfor i in range(5_000): shown.update(i)\nprint('<>')",
     kCompletes, "<>"},
    {"BaseException", "class Base(BaseException): pass\nraise Base('so there')", kFails,
     "so there"},
    {"GeneratorExit", "raise GeneratorExit", kFails, "GeneratorExit"},
    {"OwnKeyboardInterrupt", "raise KeyboardInterrupt", kFails, "KeyboardInterrupt"},
    {"OwnCancelledError", "import asyncio\nraise asyncio.CancelledError", kFails, "CancelledError"},
    {"CancelsItself", "import asyncio\nasyncio.current_task().cancel()\nawait asyncio.sleep(1)",
     kFails, "CancelledError"},
    {"StopIteration", "await __import__('asyncio').sleep(0)\nraise StopIteration(5)", kFails,
     "StopIteration"},
    {"DeepGroup",
     "error = ValueError(1)\nfor _ in range(3000): error = ExceptionGroup('group', [error])\nraise "
     "error",
     kFails, "ExceptionGroup"},
    {"LongChain", R"(
error = None
for i in range(10_000):
    following = ValueError(i)
    following.__cause__ = error
    error = following
raise error)",
     kFails, "ValueError"},
    {"CircularChain",
     "a, b = ValueError('a'), ValueError('b')\na.__cause__, b.__cause__ = b, a\nraise a", kFails,
     "ValueError: a"},
    {"StrangeSyntaxError", "raise SyntaxError('odd', (b'\\xff', object(), -7, 5, None, None))",
     kFails, "odd"},
    {"Recursion", "def deeper(): deeper()\ndeeper()", kFails, "RecursionError"},
    {"NestedParentheses", "eval('(' * 10_000 + ')' * 10_000)", kFails,
     "too many nested parentheses"},
    {"ManyMinuses", "eval('-' * 500_000 + '1')", kFails, "MemoryError"},
    {"LongSource", std::string("x = [") + std::string(2'000'000, ',').replace(0, 1, "0") + "]",
     kFails, "SyntaxError"},
    {"DeepSum", "x = " + Repeated("1+", 50'000) + "1", kFails, "RecursionError"},
    {"DeepAttributes", "x = a" + Repeated(".b", 100'000), kFails, "RecursionError"},
    {"ManyLines", Repeated("x = 1\n", 20'000) + "5", kCompletes, "5"},
    {"SystemExit", "raise SystemExit(9)", kFails, "SystemExit: 9"},
    {"QuitByName", "import sys\nsys.exit('gone')", kFails, "gone"},
};

// What a cell may break in its own interpreter.
const HostileCell kSabotage[] = {
    {"BuiltinsRemoved",
     "import builtins\nfor name in ('print', 'len', 'isinstance', 'open'): delattr(builtins, name)",
     kCompletes},
    {"BuiltinsNone",
     "import builtins\nbuiltins.print = builtins.getattr = builtins.RuntimeError = None",
     kCompletes},
    {"AllBuiltinsRemoved", "import builtins\nvars(builtins).clear()", std::nullopt},
    {"BuiltinsOfTheNamespace", "__builtins__ = {}", kCompletes},
    {"NamespaceCleared", "globals().clear()", kCompletes, "", absl::Seconds(10), {}, true},
    {"NoName", "del __name__", kCompletes},
    {"ImportFails", "import builtins\nbuiltins.__import__ = lambda *_, **__: 1 / 0", kCompletes},
    {"ModulesCleared", "import sys\nsys.modules.clear()", kCompletes},
    {"CoreModulesRemoved",
     "import sys\nfor name in ('builtins', 'sys', 'os', 'asyncio', 'io'): sys.modules.pop(name, "
     "None)",
     kCompletes},
    {"ImportPathGone", "import sys\nsys.path = sys.meta_path = sys.path_hooks = None", kCompletes},
    {"JsonPatched", "import json\njson.dumps = json.loads = None", kCompletes},
    {"TracebackPatched", R"(
import linecache, traceback
linecache.getline = linecache.getlines = linecache.cache = None
for name in list(vars(traceback)):
    if not name.startswith('__'): setattr(traceback, name, None)
1 / 0)",
     kFails, "ZeroDivisionError"},
    {"OsPatched",
     "import os\nos.write = os.read = os.getpid = os._exit = os.environ = os.fsdecode = None\n1 / "
     "0",
     kFails, "ZeroDivisionError"},
    {"AsyncioPatched", R"(
import asyncio
asyncio.CancelledError = asyncio.current_task = asyncio.Task = asyncio.events._get_running_loop = None
1 / 0)",
     kFails, "ZeroDivisionError"},
    {"ThreadingPatched",
     "import threading\nthreading.current_thread = threading._active = threading.get_ident = None",
     kCompletes},
    {"LoopStopped", "import asyncio\nasyncio.get_running_loop().stop()\n5", kCompletes, "5"},
    {"LoopStoppedWhileAwaiting",
     "import asyncio\nasyncio.get_running_loop().stop()\nawait asyncio.sleep(0.01)\n5", kCompletes,
     "5"},
    {"LoopClosed", "import asyncio\nasyncio.get_running_loop().close()", kFails},
    {"LoopReplaced",
     "import asyncio\nasyncio.set_event_loop(None)\nasyncio.set_event_loop_policy(None)\n5",
     kCompletes, "5"},
    {"LoopHandlerRaises", R"(
import asyncio
loop = asyncio.get_running_loop()
loop.set_exception_handler(lambda *_: 1 / 0)
loop.call_soon(lambda: 1 / 0)
await asyncio.sleep(0.01)
5)",
     kCompletes, "5"},
    {"LoopCallbackExits", R"(
import asyncio
asyncio.get_running_loop().call_soon(exec, 'raise SystemExit')
await asyncio.sleep(0.01)
5)",
     kCompletes, "5"},
    {"AllTasksCancelled", "import asyncio\nfor task in asyncio.all_tasks(): task.cancel()\n5",
     kCompletes, "5"},
    {"TaskFactoryRaises",
     "import asyncio\nasyncio.get_running_loop().set_task_factory(lambda *_, **__: 1 / 0)\n5",
     kCompletes, "5"},
    {"ReadersRemoved", R"(
import asyncio
loop = asyncio.get_running_loop()
for fd in range(2_000): loop.remove_reader(fd)
5)",
     kCompletes, "5"},
    {"SelectorClosed", "import asyncio\nasyncio.get_running_loop()._selector.close()\n5",
     kCompletes, "5"},
    {"GeneratorThatWillNotClose", R"(
import asyncio
async def numbers():
    try: yield 1
    finally:
        while True: await asyncio.sleep(0)
generator = numbers()
await generator.__anext__()
del generator
5)",
     kCompletes, "5"},
    {"AsyncExceptions", R"(
import ctypes, threading
main = ctypes.c_ulong(threading.main_thread().ident)
ctypes.pythonapi.PyThreadState_SetAsyncExc(main, ctypes.py_object(SystemExit))
5)",
     kFails, "SystemExit"},
    {"AsyncioRun", "import asyncio\nasyncio.run(asyncio.sleep(0))", kFails,
     "cannot be called from a running event loop"},
    {"StreamsClosed", "import sys\nsys.stdout.close()\nsys.stderr.close()\n5", kCompletes, "5"},
    {"StreamsNone", "import sys\nsys.stdout = sys.stderr = sys.stdin = None\n5", kCompletes, "5"},
    {"StreamsOfAnotherKind", "import sys\nsys.stdout = sys.stderr = 5\n5", std::nullopt},
    {"StreamOnAFullDisk", "import sys\nsys.stdout = open('/dev/full', 'w')\nprint('lost')", kFails,
     "No space left"},
    {"StreamPatched", "import sys\nsys.stdout.write = sys.stderr.flush = lambda *_: 1 / 0\n5",
     kCompletes, "5"},
    {"StreamsDetached", "import sys\nsys.stdout.detach()\n5", kCompletes, "5"},
    {"OneAndTwoClosed", "import os\nos.close(1)\nos.close(2)\n5", kCompletes, "5"},
    {"OneIsSomethingElse", "import os\nos.dup2(0, 1)\nos.dup2(0, 2)\n5", kCompletes, "5"},
    {"LowDescriptorsClosed", "import os\nos.closerange(0, 512)\n5", kCompletes, "5"},
    {"AllDescriptorsClosed", "import os\nos.closerange(0, 1 << 20)\n5", kDies,
     "channel to the host was closed"},
    {"AllDescriptorsReplaced", R"(
import os
null = os.open('/dev/null', os.O_RDWR)
for fd in map(int, os.listdir('/proc/self/fd')):
    try: os.dup2(null, fd)
    except OSError: pass
5)",
     kDies},
    {"GarbageInEveryDescriptor", R"(
import os
for fd in map(int, os.listdir('/proc/self/fd')):
    try: os.write(fd, os.urandom(4096))
    except OSError: pass
5)",
     std::nullopt},
    {"GarbageInSharedMemory", R"(
import ctypes, os
for line in open('/proc/self/maps'):
    bounds, access, *_ = line.split()
    if access == 'rw-s':
        start, end = (int(bound, 16) for bound in bounds.split('-'))
        ctypes.memmove(start, os.urandom(end - start), end - start)
print('x')
5)",
     std::nullopt},
    {"EverySignalHandled", R"(
import signal
for number in signal.valid_signals():
    try: signal.signal(number, lambda *_: 1 / 0)
    except OSError: pass
5)",
     kCompletes, "5"},
    {"TimerLeftRunning", R"(
import signal
signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
5)",
     std::nullopt, "was stopped"},
    {"AlarmLeftRunning", "import signal\nsignal.alarm(1)\n5", kCompletes, "was stopped"},
    {"InterruptsItself",
     "import _thread, os, signal\n_thread.interrupt_main()\nos.kill(os.getpid(), signal.SIGINT)\n5",
     kFails, "KeyboardInterrupt"},
    {"NoWakeup", "import signal\nsignal.set_wakeup_fd(-1)\n5", kCompletes, "5"},
    {"FaultHandlerOff", "import faulthandler\nfaulthandler.disable()\n5", kCompletes, "5"},
    {"TraceRaises", "import sys\nsys.settrace(lambda *_: 1 / 0)\n(lambda: 5)()", kFails,
     "ZeroDivisionError"},
    {"ProfileRaises", "import sys\nsys.setprofile(lambda *_: 1 / 0)\nlen('')", kFails,
     "ZeroDivisionError"},
    {"HooksRaise", R"(
import sys, threading
sys.excepthook = sys.displayhook = sys.unraisablehook = threading.excepthook = lambda *_: 1 / 0
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
class Heap:
    def __del__(self): 1 / 0
Heap()
5)",
     kCompletes, "5"},
    {"AuditHookRaises", R"(
import sys
armed = True
def hook(event, _):
    if armed and event in ('compile', 'exec', 'object.__getattr__'): raise RuntimeError(event)
sys.addaudithook(hook)
armed = False
5)",
     kCompletes, "5"},
    {"LowRecursionLimit", R"(
import sys
for limit in range(1, 1000):
    try: sys.setrecursionlimit(limit)
    except RecursionError: continue
    break
5)",
     std::nullopt},
    {"SlowThreadSwitch", "import sys\nsys.setswitchinterval(1000)\n5", kCompletes, "5"},
    {"CollectorCallbackRaises", "import gc\ngc.callbacks.append(lambda *_: 1 / 0)\ngc.collect()\n5",
     kCompletes, "5"},
};

// The world around the worker.
const HostileCell kSurroundings[] = {
    {"DirectoryGone",
     "import os, tempfile\nplace = tempfile.mkdtemp()\nos.chdir(place)\nos.rmdir(place)\n5",
     kCompletes, "5"},
    {"EnvironmentGone", "import os\nos.environ.clear()\n5", kCompletes, "5"},
    {"NoMoreDescriptors", R"(
import os
taken = []
try:
    while True: taken.append(os.open('/dev/null', os.O_RDONLY))
except OSError as error: print(error))",
     kCompletes, "Too many open files"},
    {"DescriptorLimitZero",
     "import resource\nhard = "
     "resource.getrlimit(resource.RLIMIT_NOFILE)[1]\nresource.setrlimit(resource.RLIMIT_NOFILE, "
     "(0, hard))\n5",
     kCompletes, "5"},
    {"NoMoreMemory",
     "import resource\nfor limit in (resource.RLIMIT_AS, resource.RLIMIT_DATA):\n"
     "    resource.setrlimit(limit, (1 << 20, resource.getrlimit(limit)[1]))\n5",
     kCompletes, "5"},
    {"SmallStack",
     "import resource\nresource.setrlimit(resource.RLIMIT_STACK, (65536, "
     "resource.getrlimit(resource.RLIMIT_STACK)[1]))\n5",
     kCompletes, "5"},
    {"FileSizeZero",
     "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nprint('x')\n5",
     kCompletes, "x"},
    {"ProcessLimitOne", "import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (1, 1))\n5",
     kCompletes, "5"},
    {"CpuLimit",
     "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass", kDies,
     "SIGKILL"},
    {"HugeAllocation", "bytearray(1 << 50)", kFails, "MemoryError"},
    {"MemoryLimit", R"(
import resource
resource.setrlimit(resource.RLIMIT_DATA, (256 << 20, 256 << 20))
block = []
while True: block.append(bytearray(1 << 20)))",
     kFails, "MemoryError"},
    {"ManyThreads",
     "import threading, time\nfor _ in range(500): threading.Thread(target=time.sleep, "
     "args=(987,), daemon=True).start()\n5",
     kCompletes, "5"},
    {"ThreadThatStays",
     "import threading\nthreading.Thread(target=threading.Event().wait).start()\n5", kCompletes,
     "5"},
    {"ThreadsThatFail",
     "import threading\nfor _ in range(50): threading.Thread(target=lambda: 1 / 0).start()\n5",
     kCompletes, "5"},
    {"ExitHandlerHangs", "import atexit, time\natexit.register(time.sleep, 987)\n5", kCompletes,
     "5"},
    {"ExitHandlerExits", "import atexit, os\natexit.register(os._exit, 9)\n5", kCompletes, "5"},
    {"DelRaises", "class Heap:\n    def __del__(self): 1 / 0\nHeap()\n5", kCompletes,
     "ZeroDivisionError"},
    {"ForkReturnsTwice", "import os\nos.fork() and 5", kCompletes, "5"},
    {"ForkedChildRaises", "import os\nif os.fork() == 0: 1 / 0\nos.wait()[1] >> 8", kCompletes,
     "1"},
    {"ForkedChildExits", "import os, sys\nif os.fork() == 0: sys.exit(6)\nos.wait()[1] >> 8",
     kCompletes, "6"},
    {"ForkedChildAwaits",
     "import asyncio, os\nchild = os.fork()\nawait asyncio.sleep(0.01)\nif child: "
     "os.waitpid(child, 0)\n5",
     kCompletes, "5"},
    {"ForkedChildStays", "import os, time\nif os.fork() == 0: time.sleep(987)\n5", kCompletes, "5"},
    {"ForkFromAThread", R"(
import os, threading
def fork():
    child = os.fork()
    if child == 0: return
    os.waitpid(child, 0)
thread = threading.Thread(target=fork)
thread.start()
thread.join()
5)",
     kCompletes, "5"},
    {"ForkBomb", R"(
import os, time
for _ in range(6): os.fork()
if os.getppid() and os.getpgid(0) != os.getpid(): time.sleep(987)
5)",
     kCompletes, "5"},
    {"Daemon", "import subprocess\nsubprocess.run(['sh', '-c', 'setsid sleep 987 & exit'])\n5",
     kCompletes, "5"},
    {"DaemonOfASubreaper", R"(
import ctypes, subprocess
ctypes.CDLL(None).prctl(36, 1)
subprocess.run(['sh', '-c', '(setsid sleep 987 &) ; exit'])
5)",
     kCompletes, "5"},
    {"OwnNamespaces",
     "import ctypes\nctypes.CDLL(None).unshare(0x20000000 | 0x00020000)\nimport os\n"
     "if os.fork() == 0: os._exit(0)\n5",
     kCompletes, "5"},
    {"OwnRoot", R"(
import os
try: os.chroot('/proc')
except OSError: pass
5)",
     kCompletes, "5"},
    {"StopsItsParent", "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\n5", kCompletes,
     "5"},
    {"TracesItsParent", "import ctypes, os\nctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0)\n5",
     kCompletes, "5"},
    {"StubbornDaemon", R"(
import subprocess
subprocess.Popen(['sh', '-c', 'trap "" TERM INT HUP; while :; do sleep 987; done'], start_new_session=True)
5)",
     kCompletes, "5"},
    {"StoppedChild",
     "import os, signal, subprocess\nos.kill(subprocess.Popen(['sleep', '987']).pid, "
     "signal.SIGSTOP)\n5",
     kCompletes, "5"},
    {"ChildThatKillsUs", "import os\nos.system(f'kill -SEGV {os.getpid()}; sleep 987')", kDies,
     "SIGSEGV"},
    {"ChildThatStopsUs", "import os\nos.system(f'kill -STOP {os.getpid()}; sleep 987')",
     std::nullopt, "timed out", kShort},
    {"Pool",
     "import multiprocessing\nwith multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, -2]))",
     kCompletes, "[1, 2]"},
    {"ProcessPoolLeft", R"(
import concurrent.futures
pool = concurrent.futures.ProcessPoolExecutor(2)
pool.submit(abs, -5).result())",
     kCompletes, "5"},
    {"InputAsked", "input('name? ')", kFails, "no standard input"},
    {"InputOfAChild", "import os\nos.system('cat')", kCompletes, "0"},
    {"Debugger", "breakpoint()\nx = 5", kFails, "no standard input"},
    {"Terminal", "open('/dev/tty')", kFails, "/dev/tty"},
};

}  // namespace

std::vector<HostileCell> OwnHostileCells() {
  std::vector<HostileCell> cells;
  for (std::span<const HostileCell> group :
       {std::span<const HostileCell>(kDeaths), std::span<const HostileCell>(kEndless),
        std::span<const HostileCell>(kOutput), std::span<const HostileCell>(kSabotage),
        std::span<const HostileCell>(kSurroundings)}) {
    cells.insert(cells.end(), group.begin(), group.end());
  }
  return cells;
}

}  // namespace cellar::host
