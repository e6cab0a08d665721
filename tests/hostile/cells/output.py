# Output of every size and kind.

# %% OneLineOf64MiB | completes | says "shortened"
print('x' * (64 << 20))

# %% ResultOf64MiB | completes
'x' * (64 << 20)

# %% ListOfMillions | completes
list(range(5_000_000))

# %% ErrorOf64MiB | fails | says "ValueError"
raise ValueError('x' * (64 << 20))

# %% InvalidUtf8 | completes | says "�"
import sys; sys.stdout.buffer.write(b'\xff\xfe<\xc3>\n')

# %% LoneSurrogates | completes | says "\\ud800"
'\ud800', '\udfff'

# %% LoneSurrogatePrinted | completes | says "<\\ud800>"
print('<\ud800>')

# %% LoneSurrogateRaised | fails | says "<�>"
raise ValueError('<\ud800>')

# %% LoneSurrogateAsClassName | fails
raise type('E\ud800', (Exception,), {})

# %% NulBytes | completes | says "<>"
print('<\0>')

# %% TerminalSequences | completes | says "<>"
print('<\x1b[2J\x1b]0;title\x07>')

# %% BrokenFloatsAsJson | completes
display({'application/json': {'a': float('nan'), 'b': -float('inf')}}, raw=True)

# %% CircularJson | completes
circle = {}
circle['circle'] = circle
display({'application/json': circle}, raw=True)

# %% DeepJson | completes
deep = []
for _ in range(100_000): deep = [deep]
display(deep)
del deep

# %% StrangeMimeBundle | completes
class Strange:
    def _repr_mimebundle_(self, **_): return {5: b'\xff', 'text/html': object(), None: None, 'x' * 10**6: 'y'}
Strange()

# %% ManyDisplays | completes
for i in range(20_000): display(i)

# %% ReprRaises | completes | says "ZeroDivisionError"
class Shy:
    def __repr__(self): 1 / 0
Shy()

# %% ReprExits | completes | says "SystemExit"
class Shy:
    def __repr__(self): raise SystemExit
Shy()

# %% ReprRecurses | completes | says "RecursionError"
class Shy:
    def __repr__(self): return repr(self)
Shy()

# %% ReprIsNoText | completes | says "TypeError"
class Shy:
    def __repr__(self): return 5
Shy()

# %% GetattrRaises | completes
class Shy:
    def __getattribute__(self, name): raise SystemExit(name)
Shy()

# %% ClassLies | completes | says "Liar"
class Liar:
    __class__ = property(lambda self: 1 / 0)
Liar()

# %% ErrorTextRaises | fails | says "Shy"
class Shy(Exception):
    def __str__(self): raise self
    __repr__ = __str__
raise Shy

# %% MetaclassRaises | completes | says "ZeroDivisionError"
class Meta(type):
    def __repr__(self): 1 / 0
    def __getattr__(self, name): raise SystemExit
    def __eq__(self, other): raise MemoryError
    __hash__ = None
class Shy(metaclass=Meta): pass
Shy

# %% TextOfAnotherKind | completes | says "<odd>"
class Text(str):
    def __len__(self): 1 / 0
    def __str__(self): 1 / 0
    def encode(self, *_): 1 / 0
class Odd:
    def __repr__(self): return Text('<odd>')
Odd()

# %% TracebackIntoADevice | fails | says "ZeroDivisionError"
exec(compile('1 / 0', '/dev/zero', 'exec'))

# %% TracebackIntoAPipe | fails | says "ZeroDivisionError"
import os, tempfile
with tempfile.TemporaryDirectory() as place:
    os.mkfifo(place + '/pipe')
    code = compile('1 / 0', place + '/pipe', 'exec')
    exec(code)

# %% NotesOfEveryKind | fails | says "noted"
error = ValueError('noted')
error.__notes__ = ['n' * 10**6] * 100 + [object()]
raise error

# %% HalfASequence | completes | says "<"
print('<\x1b[', end='')

# %% CombiningMarks | completes
print('<a' + '\u0301' * 500_000 + '>')

# %% DeepHtml | completes | says "too complex"
display({'text/html': '<div>' * 100_000}, raw=True)

# %% ManyUpdates | completes | says "<>"
shown = display(0, display_id=True)
for i in range(5_000): shown.update(i)
print('<>')

# %% UpdatesOfManyDisplays | completes | says "more of this output"
for i in range(900): display({'text/html': 'x' * 1000}, raw=True, display_id='same')
for i in range(2000): update_display({'text/html': 'x' * 2000}, raw=True, display_id='same')

# %% TablesWithoutText | completes | says "more of this output"
for i in range(20): display({'text/html': '<table>' + '<tr><td>' * 20_000}, raw=True)

# %% DisplayOfManyTypes | completes | says "types of a display"
display({f'a/{i}': 'x' for i in range(10_000)}, raw=True)

# %% BaseException | fails | says "so there"
class Base(BaseException): pass
raise Base('so there')

# %% GeneratorExit | fails | says "GeneratorExit"
raise GeneratorExit

# %% OwnKeyboardInterrupt | fails | says "KeyboardInterrupt"
raise KeyboardInterrupt

# %% OwnCancelledError | fails | says "CancelledError"
import asyncio
raise asyncio.CancelledError

# %% CancelsItself | fails | says "CancelledError"
import asyncio
asyncio.current_task().cancel()
await asyncio.sleep(1)

# %% StopIteration | fails | says "StopIteration"
await __import__('asyncio').sleep(0)
raise StopIteration(5)

# %% DeepGroup | fails | says "ExceptionGroup"
error = ValueError(1)
for _ in range(3000): error = ExceptionGroup('group', [error])
raise error

# %% LongChain | fails | says "ValueError"
error = None
for i in range(10_000):
    following = ValueError(i)
    following.__cause__ = error
    error = following
raise error

# %% CircularChain | fails | says "ValueError: a"
a, b = ValueError('a'), ValueError('b')
a.__cause__, b.__cause__ = b, a
raise a

# %% StrangeSyntaxError | fails | says "odd"
raise SyntaxError('odd', (b'\xff', object(), -7, 5, None, None))

# %% Recursion | fails | says "RecursionError"
def deeper(): deeper()
deeper()

# %% NestedParentheses | fails | says "too many nested parentheses"
eval('(' * 10_000 + ')' * 10_000)

# %% ManyMinuses | fails | says "MemoryError"
eval('-' * 500_000 + '1')

# %% LongSource | fails | says "SyntaxError" | repeats "," 1999999 times
x = [0,]

# %% DeepSum | fails | says "RecursionError" | repeats "1+" 50000 times
x = 1+1

# %% DeepAttributes | fails | says "RecursionError" | repeats ".b" 100000 times
x = a.b

# %% ManyLines | completes | says "5" | repeats "x = 1\n" 20000 times
x = 1
5

# %% SystemExit | fails | says "SystemExit: 9"
raise SystemExit(9)

# %% QuitByName | fails | says "gone"
import sys
sys.exit('gone')

# %% DoorbellClosed | completes | says "5"
import os
for fd in os.listdir('/proc/self/fd'):
    try:
        if 'eventfd' in os.readlink(f'/proc/self/fd/{fd}'): os.close(int(fd))
    except OSError: pass
for _ in range(20): print('x' * 200_000)
5

# %% LongDisplayId | fails | says "1000 are allowed"
display(1, display_id='x' * 10**6)
