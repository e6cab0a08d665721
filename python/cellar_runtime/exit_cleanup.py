"""What Python would do at the end of a process, and the worker, which is never finalised, has to do itself."""
__builtins__ = __import__("builtins").__dict__.copy()

import os
from time import monotonic, sleep

from cellar_runtime.library import MODULES

_WAIT_S = 0.7  # a child that a cell forked may hold the tracker back, and ends only after this process
_LOOK_S = 0.002


def stop_resource_tracker() -> None:
    """multiprocessing's process that removes shared memory and semaphores when nobody uses them any more: it would be killed
    with the rest before it has."""
    module = MODULES.get("multiprocessing.resource_tracker")
    try:
        tracker = module._resource_tracker
        os.close(tracker._fd)
        end = monotonic() + _WAIT_S
        while os.waitpid(tracker._pid, os.WNOHANG)[0] == 0 and monotonic() < end:
            sleep(_LOOK_S)
    except (AttributeError, TypeError, OSError):
        pass  # it does not run
