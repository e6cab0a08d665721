"""The checker of histories finds what it is there to find."""
import unittest

from session_model import Cell, Change, SessionModel, Violation


def result(count, status="complete", state="kept", detail="", ename=None, notices=()):
    return {"execution_count": count, "status": status, "state": state, "state_detail": detail,
            "error": ename and {"ename": ename}, "notices": list(notices)}


class Model(unittest.TestCase):
    def setUp(self):
        self.model = SessionModel()
        self.moment = 0

    def next_moment(self):
        self.moment += 1
        return self.moment

    def cell(self, token, seen, count, **fields):
        self.model.on_cell(Cell(token, self.next_moment(), self.next_moment(), result(count, **fields), seen=seen))

    def change(self, effect, refused=False):
        change = Change("reset", self.next_moment(), effect)
        self.model.on_change(change)
        change.answered, change.refused = self.next_moment(), refused

    def test_cells_in_a_row(self):
        self.cell("a", (), 1)
        self.cell("b", ("a",), 2)

    def test_a_cell_that_was_forgotten(self):
        self.cell("a", (), 1)
        with self.assertRaises(Violation):
            self.cell("b", (), 2)

    def test_a_cell_that_was_run_twice(self):
        self.cell("a", (), 1)
        with self.assertRaises(Violation):
            self.cell("b", ("a", "a"), 2)

    def test_a_number_that_was_left_out(self):
        self.cell("a", (), 1)
        with self.assertRaises(Violation):
            self.cell("b", ("a",), 3)

    def test_a_reset_that_did_nothing(self):
        self.cell("a", (), 1)
        self.change(lambda: SessionModel.FRESH)
        with self.assertRaises(Violation):
            self.cell("b", ("a",), 2)

    def test_a_reset_without_a_cell_comes_after_what_was_answered_before_it(self):
        self.cell("a", (), 1)
        self.change(lambda: self.model.states_by_rewind(2))
        self.model.on_reset(self.next_moment(), self.next_moment())
        with self.assertRaises(Violation):
            self.cell("b", ("a",), 2)
        self.cell("b", (), 1)

    def test_a_reset_without_a_cell_while_the_session_is_rewound(self):
        self.cell("a", (), 1)
        sent = self.next_moment()
        self.change(lambda: self.model.states_by_rewind(2))
        self.model.on_reset(sent, self.next_moment())
        self.cell("b", (), 1)

    def test_a_refused_reset_that_did_something(self):
        self.cell("a", (), 1)
        self.change(lambda: SessionModel.FRESH, refused=True)
        with self.assertRaises(Violation):
            self.cell("b", (), 1)

    def test_a_loss_that_the_next_cell_does_not_tell(self):
        self.cell("a", (), 1, status="error", state="lost", ename="WorkerDied")
        with self.assertRaises(Violation):
            self.cell("b", (), 1)
        self.cell("c", (), 1, state="fresh", detail="it died; this cell ran in a fresh session")

    def test_a_loss_for_no_reason(self):
        self.cell("a", (), 1)
        with self.assertRaises(Violation):
            self.cell("b", (), 1, state="fresh", detail="it died; this cell ran in a fresh session")

    def test_a_loss_that_is_told_again(self):
        why = "it died; this cell ran in a fresh session"
        self.cell("a", (), 1, status="error", state="lost", ename="WorkerDied")
        self.cell("b", (), 1, status="error", state="restored", ename="WorkerDied", notices=[why],
                  detail="died; state is that of before cell 1")
        with self.assertRaises(Violation):
            self.cell("c", (), 1, state="fresh", detail=why)
        self.cell("d", (), 1)

    def test_a_restored_state_that_is_another(self):
        self.cell("a", (), 1)
        self.cell("b", ("a",), 2)
        self.cell("c", ("a", "b"), 3, status="error", state="restored", ename="WorkerDied",
                  detail="died; state is that of before cell 2: cell 2 is undone")
        with self.assertRaises(Violation):
            self.cell("d", ("a", "b"), 3)
        self.cell("e", ("a",), 2)

    def test_cells_that_are_undone_and_not_named(self):
        self.cell("a", (), 1)
        with self.assertRaises(Violation):
            self.cell("b", ("a",), 2, status="error", state="restored", ename="WorkerDied",
                      detail="died; state is that of before cell 1")


if __name__ == "__main__":
    unittest.main()
