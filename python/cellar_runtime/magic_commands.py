"""What magics do. Rewritten cells call the methods of Commands: LINE_MAGICS and CELL_MAGICS are magics of their names, the
rest is what such cells need."""
__builtins__ = __import__("builtins").__dict__.copy()

import importlib
import os
import re
import shlex
import stat
import subprocess
import sys
from types import ModuleType

from cellar_runtime import display, shell, timing, untrusted

COMMANDS = "__cellar__"  # the name under which rewritten code finds Commands
LINE_MAGICS = ("autoreload", "cd", "config", "env", "load", "load_ext", "ls", "lsmagic", "matplotlib", "pip", "pwd", "reset",
               "run", "time", "timeit", "who", "whos")
CELL_MAGICS = ("bash", "capture", "html", "javascript", "sh", "time", "timeit", "writefile")
_MAX_SHOWN_CHARS = 60
# {expression} or $name, but not ${name}, which is the shell's, nor {{name}}, which is a template's.
_PLACE = re.compile(r"(?<![${])\{(?P<expression>[^{}]+)\}(?!\})|(?<!\$)\$(?P<name>[A-Za-z_]\w*)")
_PIP = re.compile(r"\s*pip3?(\s|\Z)")
_INSTALLED = re.compile(r"^Successfully installed (.*)$", re.MULTILINE)


class Commands:
    """Bound to one session's namespace."""

    def __init__(self, namespace):
        self._namespace = namespace
        self._previous_directory = None
        self._cell_watch = None

    def __repr__(self):
        return "<cellar's magics; %lsmagic lists them>"

    # --- commands of the shell

    def shell(self, command):
        """!command"""
        result = self._shell(command, sys._getframe(1), show=True)
        self._namespace.globals["_exit_code"] = result.returncode
        if result.returncode:
            sys.stderr.write(f"[exit code {result.returncode}]\n")

    def captured_shell(self, command):
        """x = !command"""
        return self._shell(command, sys._getframe(1), show=False)

    def bash(self, arguments, script):
        """Runs the cell in bash; a failure is an error of the cell. -s a b: with these arguments."""
        self._script("bash", self._expand(arguments, sys._getframe(1)), script)

    def sh(self, arguments, script):
        """Runs the cell in sh; a failure is an error of the cell. -s a b: with these arguments."""
        self._script("sh", self._expand(arguments, sys._getframe(1)), script)

    def pip(self, arguments):
        """pip of this session's Python; what it installed can be imported at once."""
        arguments = self._expand(arguments, sys._getframe(1))
        result = shell.run([sys.executable, "-m", "pip", *_words("%pip", arguments)], show=True)
        self._after_pip(result)
        if result.returncode:
            raise subprocess.CalledProcessError(result.returncode, f"pip {arguments}")

    def ls(self, arguments):
        """The files of a directory."""
        self._shell(f"ls {arguments}", sys._getframe(1), show=True)

    # --- the process

    def cd(self, directory):
        """Goes to a directory: none is the home directory, - the one before."""
        directory = _unquoted(self._expand(directory, sys._getframe(1))) or "~"
        if directory == "-":
            if self._previous_directory is None:
                raise ValueError("%cd -: there is no directory before this one")
            directory = self._previous_directory
        before = _current_directory()
        os.chdir(os.path.expanduser(directory))
        self._previous_directory = before
        if sys.path and sys.path[0] == before:
            sys.path[0] = os.getcwd()
        print(os.getcwd())

    def pwd(self, _):
        """The current directory."""
        return os.getcwd()

    def env(self, arguments):
        """All variables, one (NAME), or sets one (NAME=value)."""
        if not arguments:
            return dict(os.environ)
        name, separator, value = arguments.partition("=")
        if not separator:
            name, separator, value = arguments.partition(" ")
        name = name.strip()
        if not separator:
            if name not in os.environ:
                raise KeyError(f"%env: {name} is not set")
            return os.environ[name]
        os.environ[name] = self._expand(value.strip(), sys._getframe(1))
        print(f"env: {name}={os.environ[name]}")

    def matplotlib(self, _):
        """Accepted for the sake of notebooks: figures are always shown below their cell."""

    # --- what IPython is set up by: said to be without effect, so that a notebook that begins with it goes on

    def config(self, _):
        """Accepted for the sake of notebooks, without effect."""
        _say_no_effect("%config", "there is no IPython here to set up")

    def load_ext(self, extension):
        """Accepted for the sake of notebooks, without effect."""
        _say_no_effect(f"%load_ext {extension}", "extensions of IPython, and their magics, are not there")

    def autoreload(self, _):
        """Accepted for the sake of notebooks, without effect."""
        _say_no_effect("%autoreload", "importlib.reload(module) loads a changed module")

    # --- files

    def run(self, arguments):
        """Runs a Python file as a program, and keeps the names it bound. -i: in this namespace."""
        words = _words("%run", self._expand(arguments, sys._getframe(1)))
        is_interactive = words[:1] == ["-i"]
        words = words[is_interactive:]
        if not words:
            raise ValueError("%run needs a file")
        path = os.path.expanduser(words[0])
        argv, session = sys.argv, sys.modules["__main__"]
        program = session if is_interactive else ModuleType("__main__")
        names = self._namespace.globals if is_interactive else program.__dict__
        if not is_interactive:
            names.update(__file__=path, __builtins__=self._namespace.globals["__builtins__"])
        folder = os.path.dirname(os.path.abspath(path))
        try:
            sys.argv = [path, *words[1:]]
            sys.modules["__main__"] = program  # where unittest, pickle and others look for what it defines
            sys.path.insert(0, folder)
            exec(_compiled(path), names)
        except SystemExit as leaving:
            if leaving.code:
                raise
        finally:
            sys.argv = argv
            sys.modules["__main__"] = session
            if folder in sys.path:
                sys.path.remove(folder)
            if not is_interactive:
                self._namespace.globals.update(
                    (name, value) for name, value in names.items() if not name.startswith("__"))

    def load(self, path):
        """Runs a Python file as if its text stood in the cell."""
        if not path:
            raise ValueError("%load needs a file")
        path = _unquoted(self._expand(path, sys._getframe(1)))
        exec(_compiled(os.path.expanduser(path)), self._namespace.globals)

    def writefile(self, arguments, text):
        """Writes the cell to a file; -a appends to it."""
        words = _words("%%writefile", self._expand(arguments, sys._getframe(1)))
        is_appending = "-a" in words
        paths = [word for word in words if word != "-a"]
        if len(paths) != 1:
            raise ValueError("%%writefile needs one file")
        path = os.path.expanduser(paths[0])
        exists = os.path.exists(path)
        with open(path, "a" if is_appending else "w", encoding="utf-8", newline="") as file:
            file.write(text if not text or text.endswith("\n") else text + "\n")
        print(f"{'Appending to' if is_appending else 'Overwriting' if exists else 'Writing'} {path}")

    # --- cells that are shown as what they are

    def html(self, _, text):
        """Shows the cell as HTML."""
        display.display({"text/html": text}, raw=True)

    def javascript(self, _, text):
        """Shows the cell as JavaScript, which runs where a notebook is opened in a browser."""
        display.display({"application/javascript": text}, raw=True)

    # --- names

    def who(self, kind):
        """The names that cells have bound, or those of one type."""
        names = [name for name, value in self._namespace.user_items().items()
                 if not kind or untrusted.type_name(type(value)) == kind]
        print("  ".join(names) or "no names")

    def whos(self, kind):
        """As who, with types and values."""
        rows = [(name, untrusted.type_name(type(value)), _summary(value))
                for name, value in self._namespace.user_items().items()
                if not kind or untrusted.type_name(type(value)) == kind]
        if not rows:
            print("no names")
            return
        rows.insert(0, ("Variable", "Type", "Value"))
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        for name, type_name, value in rows:
            print(f"{name:<{widths[0]}}  {type_name:<{widths[1]}}  {value}".rstrip())

    def reset(self, _):
        """Forgets all names; the helpers are back. Asks nothing."""
        self._namespace.reset()
        self._namespace.globals[COMMANDS] = self  # for what follows in this cell

    def lsmagic(self, _):
        """The magics there are."""
        for prefix, names in (("%", LINE_MAGICS), ("%%", CELL_MAGICS)):
            for name in names:
                what = _OTHERS.get(name) or getattr(self, name).__doc__
                print(f"{prefix + name:<12} {what}")
        print(f"{'!command':<12} Runs a command of the shell; x = !command keeps its lines, text and returncode.")
        print(f"{'name?':<12} Shows what an object is; name?? its source too.")

    def show(self, name, with_source):
        """name? and name??"""
        from cellar_runtime import inspection
        print(inspection.describe(self._namespace.globals, name, with_source))

    # --- time and output

    def start(self):
        return timing.Stopwatch()

    def stop(self, watch, value):
        """Says how long it took, and passes the value on."""
        print(watch.report())
        return value

    def timer(self):
        return _Timed()

    def start_cell(self):
        self._cell_watch = timing.Stopwatch()

    def stop_cell(self, value):
        return self.stop(self._cell_watch, value)

    def timeit(self, name, line, setup, code, is_awaiting):
        """How long a statement takes, measured several times. -n loops, -r rounds, -q quiet, -o gives the result."""
        if setup is None:  # of one line, where the options stand before the code
            options, code = timing.split_options(code)
            loop = timing.make_loop(name, line, "", code, is_awaiting, self._namespace.globals)
        else:
            options, setup = timing.split_options(setup)
            loop = timing.make_loop(name, line + 1, setup, code, is_awaiting, self._namespace.globals)
        if is_awaiting:
            return self._timeit_async(loop, options)
        return self._timed(timing.measure(loop, options), options)

    def show_value(self, value):
        """The last value of a cell whose output is captured."""
        if value is not None:
            display.display(value)

    def capture(self, options):
        from cellar_runtime.capture import Capture
        return Capture(options)

    async def _timeit_async(self, loop, options):
        return self._timed(await timing.measure_async(loop, options), options)

    def _timed(self, result, options):
        if not options.is_quiet:
            print(result)
        return result if options.gives_result else None

    def _shell(self, command, frame, show):
        command = self._expand(command, frame)
        pip = _PIP.match(command)
        if pip is not None:  # of this Python, also where none is on PATH
            command = f"{shlex.quote(sys.executable)} -m pip {command[pip.end():]}"
        result = shell.run(command, show=show, shell=True)
        if pip is not None:
            self._after_pip(result)
        return result

    def _script(self, program, arguments, script):
        # A file in memory: a script as an argument may be too long, and its own stdin would hold the script.
        fd = os.memfd_create(program)
        try:
            os.write(fd, script.encode())
            options, rest = _options_and_rest(_words(f"%%{program}", arguments))
            command = [program, *options, f"/dev/fd/{fd}", *rest]
            result = shell.run(command, show=True, own_stderr=True, pass_fds=(fd,))
        finally:
            os.close(fd)
        if result.returncode:
            raise subprocess.CalledProcessError(result.returncode, program)

    def _expand(self, text, frame):
        """text with {expression} and $name replaced by the values that the cell has for them, where it has any. A helper's
        name is the shell's, as in `for log in *.log`."""
        def value(match):
            expression = match["expression"] or match["name"]
            if expression.isidentifier() and expression not in frame.f_locals and expression not in frame.f_globals:
                return match[0]  # also what Python has built in, as in awk '{print}'
            try:
                found = eval(expression, frame.f_globals, frame.f_locals)
                return match[0] if self._namespace.is_given(expression, found) else str(found)
            except Exception:
                return match[0]  # the shell's own
        return _PLACE.sub(value, text) if "{" in text or "$" in text else text

    def _after_pip(self, result):
        importlib.invalidate_caches()
        installed = " ".join(_INSTALLED.findall(result.text)).split()
        names = {word.rpartition("-")[0].replace("-", "_").lower() for word in installed}
        loaded = sorted(name for name in names if name in sys.modules)
        if loaded:
            print(f"Imported before it was installed: {', '.join(loaded)}. Reset the session to use the new version.")


_OTHERS = {"time": "How long it takes to run.", "capture": "Keeps the output instead of showing it: %%capture [name]."}


class _Timed:
    def __enter__(self):
        self._watch = timing.Stopwatch()

    def __exit__(self, kind, *_):
        if kind is None:
            print(self._watch.report())


def _say_no_effect(magic, reason):
    sys.stderr.write(f"[{magic} has no effect: {reason}]\n")


def _current_directory():
    """Where the process is, also when that has been deleted."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        return os.readlink("/proc/self/cwd").removesuffix(" (deleted)")


def _compiled(path):
    if not stat.S_ISREG(os.stat(path).st_mode):  # a device has no end
        raise ValueError(f"{path} is not a regular file")
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def _words(magic, text):
    """The words of a magic's line, as a shell would see them."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{magic} {text}: {error}") from None


def _options_and_rest(words):
    """The options of a shell, and the arguments of its script. -s, a script from stdin, is none: it comes from a file."""
    options, rest = [], list(words)
    while rest and rest[0][0:1] in ("-", "+"):
        word = rest.pop(0)
        if word in ("-", "--"):
            break
        if word != "-s":
            options.append(word)
            if word[-1] in "oO" and not word.startswith("--"):  # -euo pipefail
                options += rest[:1]
                del rest[:1]
    return options, rest


def _unquoted(text):
    """The path that a line is, with or without quotes around it."""
    try:
        words = shlex.split(text)
    except ValueError:  # it's a name with an apostrophe
        return text
    return words[0] if len(words) == 1 else text


def _summary(value):
    return untrusted.cut_end(" ".join(untrusted.safe_repr(value).split()), _MAX_SHOWN_CHARS)
