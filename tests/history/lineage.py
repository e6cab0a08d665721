"""Where the output may come up of what a cell has started: in its session, and in those that branched off later."""
import collections


class Lineage:
    def __init__(self):
        self.calls = {}  # by token
        self.closes = collections.defaultdict(list)  # session -> Changes
        self.branches = collections.defaultdict(list)  # session -> (where it came from, Change)

    def on_call(self, call):
        self.calls.update(dict.fromkeys(call.tokens, call))

    def may_tell(self, token, call):
        return token in self.calls and self._is_in(self.calls[token], call.session, call.sent)

    def was_cut_short(self, token):
        return self.calls[token].finished.get(token, {}).get("status") != "complete"

    def _is_in(self, call, session, moment):
        """Whether what the call started may be in the session that a request of that moment finds."""
        if call.session == session:
            return not self._closed_between(session, call.ended, moment)
        return any(not branch.refused and (branch.answered is None or call.sent < branch.answered)
                   and self._is_in(call, source, branch.sent)
                   and not self._closed_between(session, branch.answered, moment)
                   for source, branch in self.branches[session])

    def _closed_between(self, session, begin, end):
        """Certainly. A reset is nothing of the kind: what was printed before it is told by the next result."""
        return begin is not None and any(
            not close.refused and close.sent > begin and close.answered is not None and close.answered < end
            for close in self.closes[session])
