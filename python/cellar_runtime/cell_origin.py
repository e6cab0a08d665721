"""The cell that code belongs to, wherever it runs."""
__builtins__ = __import__("builtins").__dict__.copy()

import contextvars
import threading

import _cellar

# Tasks and callbacks inherit it from the cell that started them.
CELL = contextvars.ContextVar("cellar_cell", default=0)


def mark_threads() -> None:
    """Has every thread remember the cell that starts it."""
    start = threading._start_new_thread

    def start_new_thread(function, args, *kwargs):
        thread = getattr(function, "__self__", None)
        # A pool's threads work for all cells: theirs is whichever runs.
        if isinstance(thread, threading.Thread) and (
                getattr(thread._target, "__module__", None) != "concurrent.futures.thread"):
            thread._cellar_cell = _cellar.current_cell()
        return start(function, args, *kwargs)

    threading._start_new_thread = start_new_thread


def of_thread() -> int:
    """The cell that started the current thread."""
    thread = threading._active.get(threading.get_ident())
    return getattr(thread, "_cellar_cell", 0)
