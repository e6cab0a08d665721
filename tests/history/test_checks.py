"""The checks of what clients are told find what they are there to find."""
import os
import subprocess
import unittest

from clients import OFTEN, OPERATIONS, SESSIONS
from fake_frames import FakeFrames


class Checks(FakeFrames):
    # Order.

    def test_a_good_history(self):
        first = self.call(cells=2)
        waits, withdrawn, elsewhere = self.call(), self.call(), self.call("play")
        self.start(first)
        self.start(elsewhere)
        self.finish(first)
        self.finish(elsewhere)
        self.refuse(withdrawn)
        self.start(first, 1)
        self.say(first, f"{first.tokens[0]} late\n", 1, background=True)
        self.background[first] = f"{first.tokens[0]} late\n"
        self.finish(first, 1, first.tokens[:1])
        self.end(first)
        self.end(elsewhere)
        self.start(waits)
        self.finish(waits, 0, first.tokens)
        self.end(waits)
        self.clients.check_runs()

    def test_a_second_answer(self):
        call = self.run_call()
        with self.found("a frame after the last"):
            self.end(call)

    def test_calls_in_another_order_than_they_were_sent(self):
        first, second = self.call(), self.call()
        self.start(second)
        self.finish(second)
        self.end(second)
        with self.found(f"{first.id} began after {second.id}, which was sent later"):
            self.start(first)

    def test_a_call_that_begins_before_the_one_before_has_ended(self):
        first, second = self.call(), self.call()
        self.start(first)
        with self.found(f"{second.id} began cell 0 before {first.id} had ended"):
            self.start(second)

    def test_a_call_need_not_wait_for_one_whose_session_was_closed(self):
        first = self.call(cells=2)
        self.start(first)
        self.finish(first)
        self.clients.close("work")
        second = self.call()
        self.start(second)
        self.start(first, 1)
        self.end(first, "cancelled")
        self.answer("close")
        self.finish(second)
        self.end(second)
        self.start(self.call())
        with self.found("had ended"):
            self.start(self.call())

    def test_a_close_that_was_refused_is_none(self):
        first = self.call()
        self.start(first)
        self.clients.close("work")
        self.answer("close", "refused")
        with self.found("had ended"):
            self.start(self.call())

    def test_a_close_does_not_change_the_order_in_which_calls_begin(self):
        first, second = self.call(), self.call()
        self.clients.close("work")
        self.start(second)
        with self.found("which was sent later"):
            self.start(first)

    def test_cells_in_another_order(self):
        call = self.call(cells=2)
        with self.found("cell 1 began when 0 was the next"):
            self.start(call, 1)

    def test_a_cell_that_begins_twice(self):
        call = self.call()
        self.start(call)
        with self.found("cell 0 began when 1 was the next"):
            self.start(call)

    def test_a_cell_after_one_that_failed(self):
        call = self.call(cells=2)
        self.start(call)
        self.finish(call, status="error")
        with self.found("the one before it is not complete"):
            self.start(call, 1)

    def test_output_before_the_cell_began_and_after_it_ended(self):
        call = self.call()
        with self.found("0 cells have begun"):
            self.say(call, "x")
        self.clients.frames[call.client].clear()
        self.start(call)
        self.finish(call)
        with self.found("1 cells have begun, 1 ended"):
            self.say(call, "x")

    # Output.

    def test_output_of_another_cell(self):
        before, call = self.run_call(), self.call()
        self.start(call)
        self.say(call, f"{before.tokens[0]} late\n")
        with self.found(f"output of {before.tokens[0]} under {call.tokens[0]}"):
            self.finish(call, 0, before.tokens)

    def test_a_result_with_other_output(self):
        call = self.call()
        self.start(call)
        self.finish(call)
        self.results[call][0]["outputs"] = []
        with self.found("and its result has ''"):
            self.end(call)

    def test_a_result_that_is_told_in_two_ways(self):
        call = self.call()
        self.start(call)
        self.finish(call)
        self.results[call][0]["state"] = "lost"
        with self.found(r"by \['state'\]"):
            self.end(call)

    def test_a_cell_that_ran_and_was_not_told_of(self):
        call = self.call()
        self.start(call)
        self.finish(call)
        call.finished.clear()
        with self.found("is told in two ways"):
            self.end(call)

    def test_background_that_the_result_lacks(self):
        before, call = self.run_call(), self.call()
        self.start(call)
        self.say(call, f"{before.tokens[0]} late\n", background=True)
        self.finish(call, 0, before.tokens)
        with self.found("came as background, and the result has ''"):
            self.end(call)

    def test_background_of_another_session(self):
        other, call = self.run_call("play"), self.call()
        self.start(call)
        with self.found(f"output of {other.tokens[0]}, which cannot be there"):
            self.say(call, f"{other.tokens[0]} late\n", background=True)

    def test_background_of_another_session_between_calls(self):
        other, call = self.run_call("play"), self.call()
        self.start(call)
        self.finish(call)
        self.background[call] = f"{other.tokens[0]} late\n"
        with self.found("which cannot be there"):
            self.end(call)

    def test_background_of_a_session_that_was_closed(self):
        before = self.run_call()
        self.clients.close("work")
        self.answer("close")
        call = self.call()
        self.start(call)
        with self.found("which cannot be there"):
            self.say(call, f"{before.tokens[0]} late\n", background=True)

    def test_what_a_cell_prints_itself_is_no_background(self):
        before, call = self.run_call(), self.call()
        self.start(call)
        with self.found("output of a cell as background"):
            self.say(call, f"{before.tokens[0]} line 7\n", background=True)

    def test_the_cell_that_runs_has_no_background(self):
        call = self.call()
        self.start(call)
        with self.found("output of a cell as background"):
            self.say(call, f"{call.tokens[0]} late\n", background=True)

    def test_background_of_the_session_it_branched_from(self):
        source, session = self.ask_to_branch()
        before = self.run_call(source)
        self.answer("branch", before_cell=2)
        after, call = self.run_call(source, found=before.tokens), self.call(session)
        self.start(call)
        self.say(call, f"{before.tokens[0]} late\n", background=True)
        with self.found(f"output of {after.tokens[0]}, which cannot be there"):
            self.say(call, f"{after.tokens[0]} late\n", background=True)

    def test_background_of_a_branch_that_was_refused(self):
        source, session = self.ask_to_branch()
        before = self.run_call(source)
        self.answer("branch", "refused")
        call = self.call(session)
        self.start(call)
        with self.found("which cannot be there"):
            self.say(call, f"{before.tokens[0]} late\n", background=True)

    def test_background_of_a_session_it_did_not_branch_from(self):
        source, session = self.ask_to_branch()
        other = self.run_call(next(name for name in SESSIONS if name != source))
        self.answer("branch", before_cell=1)
        call = self.call(session)
        self.start(call)
        with self.found("which cannot be there"):
            self.say(call, f"{other.tokens[0]} late\n", background=True)

    def test_background_of_a_branch_that_was_closed(self):
        source, session = self.ask_to_branch()
        before = self.run_call(source)
        self.answer("branch", before_cell=2)
        self.clients.close(session)
        self.answer("close")
        call = self.call(session)
        self.start(call)
        with self.found("which cannot be there"):
            self.say(call, f"{before.tokens[0]} late\n", background=True)

    def test_background_of_a_branch_does_not_go_back(self):
        source, session = self.ask_to_branch()
        self.answer("branch", before_cell=1)
        branched, call = self.run_call(session), self.call(source)
        self.start(call)
        with self.found("which cannot be there"):
            self.say(call, f"{branched.tokens[0]} late\n", background=True)

    def test_a_child_that_an_interrupt_left_behind(self):
        cut, call = self.call(), self.call()
        self.start(cut)
        self.finish(cut, status="cancelled")
        self.end(cut, "cancelled")
        self.start(call)
        self.say(call, f"{cut.tokens[0]} child\n")
        self.finish(call, 0, cut.tokens)
        self.end(call)

    # State.

    def test_a_branch_that_is_empty(self):
        source, session = self.ask_to_branch(close_first=True)
        before = self.run_call(source)
        self.answer("close")
        self.answer("branch", before_cell=2)
        call = self.call(session)
        self.start(call)
        with self.found("could have found"):
            self.finish(call)

    # How often.

    def test_one_run_too_many(self):
        call = self.run_call()
        self.clients.check_runs()
        with open(self.witness, "a") as witness:
            print(call.tokens[0], file=witness)
        with self.found("ran 2 times, and its result says 1"):
            self.clients.check_runs()

    def test_a_run_of_what_was_refused(self):
        call = self.call()
        self.refuse(call)
        with open(self.witness, "a") as witness:
            print(call.tokens[0], file=witness)
        with self.found("ran 1 times, and its result says 0"):
            self.clients.check_runs()

    def test_a_cell_that_was_told_of_and_refused(self):
        call = self.call()
        self.start(call)
        self.finish(call)
        with self.found("is refused, and has told"):
            self.refuse(call)

    def test_a_refusal_for_no_good_reason(self):
        with self.found("refused: "):
            self.refuse(self.call(), "CannotRun")

    def test_a_history_in_which_everything_was_refused(self):
        self.refuse(self.call())
        with self.found("0 cells went well in 1 s"):
            self.clients.check_happened(1, OPERATIONS)

    def test_an_operation_that_is_always_refused(self):
        self.run_call()
        for _ in range(OFTEN):
            self.clients.check_happened(1, OPERATIONS)
            self.clients.reset()
            self.answer("reset", "refused")
        with self.found(r"never done: \['reset'\]"):
            self.clients.check_happened(1, OPERATIONS)
        self.clients.reset()
        self.answer("reset")
        self.clients.check_happened(1, OPERATIONS)

    def test_a_last_look_that_does_not_end_well(self):
        def read(_):
            call, = self.clients.calls.values()
            self.start(call)
            self.finish(call, status="error")
            self.end(call, "error")
        self.clients.read = read
        with self.found("the last look at work: error"):
            self.clients.settle()

    # Kills.

    def test_a_worker_that_had_ended_was_not_killed(self):
        for is_reaped in (False, True):
            child = subprocess.Popen(["true"])
            self.addCleanup(child.wait)
            self.clients.note_worker("work", child.pid)
            os.waitid(os.P_PID, child.pid, os.WEXITED | (0 if is_reaped else os.WNOWAIT))
            self.clients.kill("work")
        self.assertEqual(self.clients.models["work"].kills, [])

    def test_a_worker_that_was_killed(self):
        child = subprocess.Popen(["sleep", "60"])
        self.clients.note_worker("work", child.pid)
        self.clients.kill("work")
        self.assertEqual(child.wait(), -9)
        self.assertEqual(len(self.clients.models["work"].kills), 1)


if __name__ == "__main__":
    unittest.main()
