"""What one session may hold, derived from what its results said. Every cell appends its token to a tuple `history` and
tells what it found there, so a result that speaks untruly of the state is found out by the next cell."""
import re


class Violation(AssertionError):
    pass


def stands_before(text):
    """The cell before which the state stands, as a sentence about a restored one must say."""
    found = re.search(r"state is that of before cell (\d+)", text)
    return int(found[1]) if found else None


def tells_of_state(notice):
    return "fresh session" in notice or stands_before(notice) is not None


class Change:
    """A reset, close, rewind or branch: it takes effect at some moment between being sent and being answered."""

    def __init__(self, type, sent, effect):
        self.type = type
        self.sent = sent
        self.effect = effect  # () -> the states that the session may have by it
        self.answered = None  # when
        self.refused = False


class Cell:
    """A cell that was run, with what its result says. Moments are numbers that grow."""

    def __init__(self, token, sent, ended, result, reset=False, seen=None):
        self.token, self.sent, self.ended, self.reset, self.seen = token, sent, ended, reset, seen
        self.count = result["execution_count"]
        self.status = result["status"]
        self.state = result["state"]
        self.detail = result["state_detail"]
        self.notices = result["notices"]
        self.died = (result["error"] or {}).get("ename") in ("WorkerDied", "CellKilled")

        # What it says of the state before it: one that died has another state to tell as well.
        self.said = next(filter(tells_of_state, self.notices), "") if self.died else self.detail

    def found_nothing(self):
        return self.state == "fresh" or (self.died and "fresh session" in self.said)

    def found_restored(self):
        """The cell before which the state stood that it found; None if it does not say so."""
        return stands_before(self.said) if self.died or self.state == "restored" else None


class SessionModel:
    """`states`: the pairs (history, number of the next cell) of which the session has one."""

    FRESH = frozenset({((), 1)})

    def __init__(self):
        self.states = set(self.FRESH)
        self.known = {1: {()}}  # what the state was before a cell, for cells that are not undone
        self.ever = {1: {()}}  # the same, of all cells
        self.changes = []
        self.last = None  # the last cell that was run
        self.lost = False  # the next cell must say that it found nothing
        self.restore_is_told = False  # by a cell that never ran: the next one tells it too
        self.kills = []  # moments at which its worker was killed from outside

    def on_change(self, change):
        self.changes.append(change)

    def on_reset(self, sent, answered):
        """Of a call that was cancelled before it ran a cell."""
        self.states, self.known, self.lost = set(self.FRESH), {1: {()}}, False
        self.restore_is_told = False
        self.forget_changes_before(sent)
        # Others that were answered meanwhile may have come before it or after.
        reset = Change("reset", sent, lambda: self.FRESH)
        reset.answered = answered
        self.changes.append(reset)

    def forget_changes_before(self, moment):
        """What was asked for then found their effect."""
        self.changes = [change for change in self.changes if change.answered is None or change.answered > moment]

    def closed_since(self, moment):
        return any(change.type == "close" and not change.refused and (change.answered or moment) >= moment
                   for change in self.changes)

    def states_by_rewind(self, cell):
        counts = self.known if cell is None else [cell]
        return {(history, count) for count in counts for history in self.known.get(count, ())}

    def states_ever(self, cell):
        counts = self.ever if cell is None else [cell]
        return {(history, count) for count in counts for history in self.ever.get(count, ())}

    def on_cell(self, cell):
        """Raises without having changed anything."""
        before, changed = self._states_before(cell)
        if cell.found_nothing():
            self._check_cause(cell)
            before = self.FRESH
        elif cell.found_restored() is not None:
            self._check_cause(cell)
            before = self._states_restored(cell)
        elif self.lost and not changed:
            raise Violation(f"{cell.token}: all was lost before it, and it does not say so: {cell.detail!r}")
        histories = {history for history, count in before
                     if count == cell.count and (cell.seen is None or history == cell.seen)}
        if not histories:
            raise Violation(f"{cell.token} is cell {cell.count} ({cell.status}, state {cell.state}: {cell.detail!r} {cell.notices}) and "
                            f"found {cell.seen}; it could have found {sorted(before)}")
        self.known, earlier = {n: known for n, known in self.known.items() if n < cell.count}, self.known
        self.known[cell.count] = histories
        try:
            self._end(cell, histories)
        except Violation:
            self.known = earlier
            raise
        for count, known in self.known.items():
            self.ever.setdefault(count, set()).update(known)
        self.restore_is_told = False
        self.forget_changes_before(cell.sent)
        self.last = cell

    def on_unsent(self, cell):
        """It was cancelled while it waited for its turn: nothing of it has run. It tells of a loss, and so does the next."""
        if cell.found_restored() is not None:
            self._check_cause(cell)
            self.states = self._states_restored(cell)
            self.restore_is_told = True
        elif cell.reset or cell.found_nothing():
            if not cell.reset:
                self._check_cause(cell)
            self.states, self.known = set(self.FRESH), {1: {()}}
        else:
            if self.lost and not self._states_before(cell)[1]:
                raise Violation(f"{cell.token}: all was lost before it, and it does not say so: {cell.detail!r}")
            return
        self.lost = cell.found_nothing() and not cell.reset
        self.forget_changes_before(cell.sent)
        self.last = cell

    def _states_before(self, cell):
        """The states that the cell may have found, and whether one of them is due to a change."""
        if cell.reset:
            return self.FRESH, True
        changes = self._changes_before(cell)
        certain = any(change.answered is not None and change.answered < cell.sent
                      and (self.last is None or change.sent > self.last.ended) for change in changes)
        states = set() if certain else set(self.states)
        for change in changes:
            states |= change.effect()
        return states, bool(changes)

    def _changes_before(self, cell):
        return [change for change in self.changes if not change.refused and change.sent < cell.ended]

    def _branches_before(self, cell):
        """Those that this session may have come from since: they bring what their origin had not told yet."""
        return [change for change in self._changes_before(cell) if change.type == "branch"]

    def _states_restored(self, cell):
        stand = cell.found_restored()
        brought = {state for branch in self._branches_before(cell) for state in branch.effect() if state[1] == stand}
        told = {state for state in self.states if self.restore_is_told and state[1] == stand}
        return self.states_by_rewind(stand) | brought | told

    def _check_cause(self, cell):
        has_cause = self.lost or self.restore_is_told or self._changes_before(cell)
        if not has_cause and not any(self.last is None or moment > self.last.sent for moment in self.kills):
            raise Violation(f"{cell.token} says for no reason: {cell.said!r} ({cell.state}: {cell.detail!r})")

    def _end(self, cell, histories):
        if cell.died and cell.state == "restored":
            stand = stands_before(cell.detail)
            if stand is None or stand > cell.count or (stand < cell.count) != ("undone" in cell.detail):
                raise Violation(f"{cell.token}, cell {cell.count}: {cell.detail!r}")
            states = self.states_by_rewind(stand)
            if not states:
                raise Violation(f"{cell.token}: {cell.detail!r}, of which only {sorted(self.known)} can be known")
        elif cell.died:
            if cell.state != "lost":
                raise Violation(f"{cell.token}: the worker is gone and the state is {cell.state}")
            states, self.known = set(self.FRESH), {1: {()}}
        elif cell.state == "lost":
            raise Violation(f"{cell.token}: lost, and yet {cell.status}")
        else:
            after = {(*history, cell.token) for history in histories}
            if cell.status == "cancelled":
                after |= histories  # it may have been too early
            states = {(history, cell.count + 1) for history in after}
            self.known[cell.count + 1] = after
        self.states, self.lost = states, cell.state == "lost"
