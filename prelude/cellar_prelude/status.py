"""Progress that a cell reports: `log`, `phase`, and the events by which helpers say what they do."""
__builtins__ = __import__("builtins").__dict__.copy()

from cellar_runtime.display import publish_status


def log(message) -> None:
    """Report progress: one line beside the cell's output.

    The cell's time-out is one of inactivity, and each call starts it again; a print does not.

        for n, url in enumerate(urls):
            log(f"{n} of {len(urls)}")
    """
    publish_status({"op": "log", "message": str(message)})


def phase(title) -> None:
    """Begin a phase of the work; what is reported after it belongs to it. Starts the time-out again, as log() does."""
    publish_status({"op": "phase", "title": str(title)})


def note(op: str, **fields) -> None:
    """Says what a helper has done. Where nothing can be sent, as in a process that a cell forked, it is not said."""
    try:
        publish_status({"op": op, **fields})
    except RuntimeError:
        pass
