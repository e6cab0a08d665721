# Names that a cell takes away or gives another meaning: builtins, modules, variables.

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

# %% AstPatched | completes | says "5"
import ast
ast.Expr._fields = ast.Module._fields = ast.Expression.__init__ = None
5

# %% SysEmptied | any ending
import sys
for name in dir(sys):
    if not name.startswith('__'): setattr(sys, name, None)

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

# %% SysWithAKeyThatBlocks | completes | says "5"
import sys, time
class Odd:
    def __hash__(self): return hash('stdin')
    def __eq__(self, other): time.sleep(987)
del sys.stdin
vars(sys)[Odd()] = 1
5

# %% LinecacheClassRaises | completes | says "5"
import linecache, types
class Angry(types.ModuleType):
    def __getattribute__(self, name): raise ZeroDivisionError(name)
linecache.__class__ = Angry
5

# %% LinecacheWithOddKeys | completes | says "5"
import linecache
class Odd:
    def __init__(self, name): self.name = name
    def __hash__(self): return hash(self.name)
    def __eq__(self, other): raise ZeroDivisionError('compared')
for n in range(3, 100): linecache.cache[Odd(f'<cell {n}>')] = 0
5

# %% OutWithOddKeys | completes
class Odd:
    def __init__(self, number): self.number = number
    def __hash__(self): return hash(self.number)
    def __eq__(self, other): raise ZeroDivisionError('compared')
for n in range(3, 100): Out[Odd(n)] = 0

# %% EveryListEmptied | any ending
import gc
for thing in gc.get_objects():
    if type(thing) is list: thing.clear()

# %% BytesDecodeReplaced | any ending
import gc
gc.get_referents(bytes.__dict__)[0]['decode'] = None

# %% EveryModuleAngry | any ending
import sys, types
class Angry(types.ModuleType):
    def __getattribute__(self, name): raise ZeroDivisionError(name)
for module in list(sys.modules.values()):
    if type(module) is types.ModuleType: types.ModuleType.__setattr__(module, '__class__', Angry)
