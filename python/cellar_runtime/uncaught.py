"""Errors that end no cell: those of threads, and of what Python calls by itself, as `__del__`. They are told on stderr in
Python's words, with the lines of cells, which Python's own hooks do not know."""
__builtins__ = __import__("builtins").__dict__.copy()

import sys
import threading

from cellar_runtime import tracebacks, untrusted

_SYS, _ident = sys.__dict__, threading.get_ident


def _of_thread(args) -> None:
    """Handles an error that a thread has ended with. SystemExit ends it quietly."""
    kind, error, _, thread = args
    if issubclass(kind, SystemExit):
        return
    name = _ident() if thread is None else untrusted.safe_str(thread.name)
    _tell(f"Exception in thread {name}:", kind, error)


def _of_no_caller(unraisable) -> None:
    """Handles an error that Python has nobody to raise it to."""
    message = unraisable.err_msg or "Exception ignored in"
    _tell(f"{message}: {untrusted.safe_repr(unraisable.object)}", unraisable.exc_type, unraisable.exc_value)


def _tell(title, kind, error):
    stream = _SYS.get("stderr")
    if stream is not None:
        text = tracebacks.format_error(kind() if error is None else error)[2]
        stream.write(f"{untrusted.valid_text(title)}\n{text}\n")
        stream.flush()


threading.excepthook = _of_thread
sys.unraisablehook = _of_no_caller
