"""Which call has a session, and whether it was its turn."""
from session_model import Violation


class Turns:
    """All calls on a session come over one connection, and none is made by a cell that waits for it. So they have it one
    at a time, in the order in which they were sent; one that is cancelled or refused while it waits never has it.

    A reset, a rewind or a death does not change that. A close does: what comes after it has a session of its own, and
    need not wait for the call that ends in the old one, and that may even come to its next cell, which is not run. But
    that one had begun: those that wait when a session is closed never begin."""

    def __init__(self, model):
        self.model = model
        self.holders = []  # calls that have begun and not ended
        self.last = None  # the call that began last

    def begin(self, call):
        """A cell of the call, the first or another. Raises without having changed anything."""
        first = call.begun == 0
        if first and self.last is not None and self.last.sent > call.sent:
            raise Violation(f"{call.id} began after {self.last.id}, which was sent later")
        for holder in self.holders:
            if holder is not call and not self.model.closed_since(min(holder.sent, call.sent)):
                raise Violation(f"{call.id} began cell {call.begun} before {holder.id} had ended")
        if first:
            self.holders.append(call)
            self.last = call

    def end(self, call):
        if call in self.holders:
            self.holders.remove(call)
