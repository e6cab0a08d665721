"""The code of cells, which tell by their token what they are and what they found, and how to read it again."""
import re

# What a cell does after it has noted itself, and how often it is chosen.
BODIES = {
    "": 8,
    "for i in range(300): print(token, 'line', i)": 3,
    "import time; time.sleep(0.03)": 4,
    "import asyncio; await asyncio.sleep(0.03)": 4,
    "import time\nwhile True: time.sleep(0.001)": 3,
    "import asyncio; await asyncio.sleep(60)": 2,
    "import threading, time\n"
    "threading.Thread(target=lambda t: (time.sleep(0.05), print(t, 'late')), args=(token,), daemon=True).start()": 2,
    "import asyncio\nasync def later(t): await asyncio.sleep(0.02); print(t, 'late')\n"
    "task = asyncio.create_task(later(token))": 2,
    "1 / 0": 2,
    "import subprocess; subprocess.run(['echo', token, 'child'])": 1,
    "import os; os.kill(os.getpid(), 9)": 2,
    "import os; os._exit(3)": 1,
    # Deaf to interrupts until it is killed.
    "import ctypes; ctypes.PyDLL(None).sleep(60)": 1,
}
PREAMBLE = """\
import os
token = {token!r}
witness = os.open({witness!r}, os.O_WRONLY | os.O_APPEND)
os.write(witness, b'{token}\\n')
os.close(witness)
found = globals().get('history', ())
print(token, 'begin', os.getpid(), ','.join(found))
history = (*found, token)
{body}
print(token, 'end')
"""


def code_of(token, witness, body):
    return PREAMBLE.format(token=token, witness=witness, body=body)


def lines_of(text):
    """(token, word) of each line that begins with a token; an interrupt may have cut a line anywhere."""
    return re.findall(r"(?m)^(t\d+\.\d) (\w*)", text)


def beginnings(text, token):
    """(pid of the worker, tokens that were found there), for each time the cell began."""
    return [(int(pid), tuple(found.split(",")) if found else ())
            for pid, found in re.findall(rf"{re.escape(token)} begin (\d+) (.*)\n", text)]


def ended(text, token):
    return f"{token} end\n" in text
