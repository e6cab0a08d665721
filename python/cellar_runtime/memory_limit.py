"""How much memory the code of cells may use, where the session has a cap."""
__builtins__ = __import__("builtins").__dict__.copy()

import _cellar

# For compiling the next cell and telling its end: a session that is full could not even be told to free something.
_RESERVE_BYTES = 16 << 20


class MemoryLimit:
    def __init__(self):
        self._cap = 0

    def set(self, cap):
        """In bytes; 0: none."""
        self._cap = cap
        self.relax()

    def hold(self):
        """Before the code of a cell runs: the cap holds."""
        if self._cap:
            _cellar.limit_memory(self._cap)

    def relax(self):
        """When no code of a cell runs: the runtime has its reserve on top of the cap."""
        if self._cap:
            _cellar.limit_memory(self._cap + _RESERVE_BYTES)
