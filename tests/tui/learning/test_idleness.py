"""When heads may learn, by a clock of the test's own."""

from __future__ import annotations

from medusa_chat.tui.learning.idleness import ASK_EVERY, IDLE_SECONDS, REST_SECONDS, Idleness, Verdict

LONG = IDLE_SECONDS + 1


def test_it_asks_once_nobody_was_here_for_three_minutes_and_then_now_and_again():
    idleness = Idleness(touched=0.0)
    assert idleness.look(IDLE_SECONDS - 1, enabled=True, busy=False) is Verdict.WAIT
    assert idleness.look(LONG, enabled=True, busy=False) is Verdict.ASK
    assert idleness.look(LONG + 1, enabled=True, busy=False) is Verdict.WAIT
    assert idleness.look(LONG + ASK_EVERY, enabled=True, busy=False) is Verdict.ASK


def test_a_key_puts_it_off():
    idleness = Idleness(touched=0.0)
    idleness.touch(100.0)
    assert idleness.look(LONG, enabled=True, busy=False) is Verdict.WAIT
    assert idleness.look(100.0 + LONG, enabled=True, busy=False) is Verdict.ASK


def test_it_never_asks_while_switched_off_or_while_the_machine_works():
    idleness = Idleness(touched=0.0)
    assert idleness.look(LONG, enabled=False, busy=False) is Verdict.WAIT
    assert idleness.look(LONG, enabled=True, busy=True) is Verdict.WAIT


def test_a_lesson_ends_with_the_first_key_a_question_or_the_switch():
    for touched, enabled, busy in ((301.0, True, False), (0.0, True, True), (0.0, False, False)):
        idleness = Idleness(touched=0.0)
        idleness.begin(300.0, wanted=False)
        assert idleness.look(300.5, enabled=True, busy=False) is Verdict.WAIT
        idleness.touch(touched)
        assert idleness.look(302.0, enabled, busy) is Verdict.END


def test_one_the_person_began_ends_with_a_question_alone():
    idleness = Idleness(touched=0.0)
    idleness.begin(10.0, wanted=True)
    idleness.touch(11.0)
    assert idleness.look(12.0, enabled=False, busy=False) is Verdict.WAIT
    assert idleness.look(12.0, enabled=False, busy=True) is Verdict.END


def test_after_one_that_was_ended_it_goes_on_the_next_time_and_rests_longer_after_a_failure():
    for failed, rest in ((False, LONG), (True, REST_SECONDS)):
        idleness = Idleness(touched=0.0)
        idleness.begin(300.0, wanted=False)
        idleness.touch(301.0)
        idleness.end(301.0, failed)
        assert idleness.look(301.0 + rest - 2, enabled=True, busy=False) is Verdict.WAIT
        assert idleness.look(301.0 + rest, enabled=True, busy=False) is Verdict.ASK
