"""Comparisons in the child's loop, over real pipes, with a fake model."""

from __future__ import annotations

import pytest
from doubles.fake_session import OTHER, PROBLEMS, REPLY
from doubles.screen_ends import ask, compare, lane_steps_in, steps_in
from doubles.step_records import steps_of

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import (
    Adjust,
    Cancel,
    Compared,
    Failed,
    Finished,
    LaneEnded,
    LaneStepped,
    Load,
    Loaded,
    Pause,
    Progress,
    Resume,
    StepOnce,
)

KINDS = {"refused": "refused", "memory": "memory", "card memory": "memory", "cpu memory": "memory", "bug": "internal"}


def _ended(events) -> list[LaneEnded]:
    return [event for event in events if isinstance(event, LaneEnded)]


def test_every_lane_is_told_to_its_end_and_then_where_they_part(screen):
    screen.send(Load("tiny"), compare("hello", "joint", "other", "lookup", answer=4))
    screen.until(Loaded)
    events, compared = screen.until(Compared)
    assert {event.answer for event in events} == {4}
    steps = [list(steps_of(text)) for text in (REPLY, OTHER, REPLY)]
    assert [lane_steps_in(events, lane) for lane in range(3)] == steps
    ended = _ended(events)
    assert {event.lane for event in ended} == {0, 1, 2}
    for event in ended:
        figures = event.statistics
        assert (event.reason, event.text) == ("eos", "")
        assert figures.steps == len(steps[event.lane])
        assert figures.tokens == sum(len(step.tokens) for step in steps[event.lane])
        assert figures.seconds == pytest.approx(sum(step.ms for step in steps[event.lane]) / 1000)
        assert (figures.prompt_tokens, figures.prefill_seconds) == (31, 0.25)
    parting = compared.partings[1]
    assert (compared.answer, compared.partings[0], compared.partings[2]) == (4, None, None)
    said = [[token for step in lane for token in step.tokens] for lane in steps[:2]]
    assert said[0][: parting.index] == said[1][: parting.index]
    assert parting.tokens == (said[0][parting.index], said[1][parting.index])


def test_a_lane_s_steps_come_before_its_end(screen):
    screen.send(Load("tiny"), compare("hello", "joint", "other"))
    screen.until(Loaded)
    events, _ = screen.until(Compared)
    for lane in range(2):
        kinds = [type(event) for event in events if event.lane == lane]
        assert kinds == [LaneStepped] * (len(kinds) - 1) + [LaneEnded]


def test_the_plain_lane_s_own_steps_are_the_plain_steps_of_all(screen):
    screen.send(Load("tiny"), compare("hello", "joint", "plain"))
    events, _ = screen.until(Compared)
    plain = lane_steps_in(events, 1)
    for event in _ended(events):
        # The other lane may end one turn before it.
        means = [sum(step.ms for step in plain[:count]) / count for count in (len(plain) - 1, len(plain))]
        assert event.statistics.plain_ms in [pytest.approx(mean) for mean in means]


def test_without_a_plain_lane_the_one_timed_after_loading_counts(screen):
    screen.send(Load("tiny"), compare("hello", "joint", "lookup"))
    loaded = screen.until(Loaded)[1]
    assert {event.statistics.plain_ms for event in _ended(screen.until(Compared)[0])} == {loaded.plain_ms}


def test_turns_are_fair_while_they_are_watched(screen):
    screen.send(Load("tiny"), compare("endless", "joint", "lookup"))
    clocks, longest = [0.0, 0.0], 0.0
    steps: list[list[int]] = [[], []]
    while min(map(len, steps)) < 500:
        event = screen.until(LaneStepped)[1]
        steps[event.lane] += [step.index for step in event.steps]
        clocks[event.lane] += sum(step.ms for step in event.steps)
        longest = max(longest, *(step.ms for step in event.steps))
    screen.send(Cancel())
    events, _ = screen.until(Compared)
    for lane in range(2):
        rest = lane_steps_in(events, lane)
        clocks[lane] += sum(step.ms for step in rest)
        steps[lane] += [step.index for step in rest]
        assert steps[lane] == list(range(1, len(steps[lane]) + 1))
    assert abs(clocks[0] - clocks[1]) <= longest + 1e-6


def test_cancel_ends_all_lanes_that_still_run_and_keeps_what_was_written(screen):
    screen.send(Load("tiny"), compare("endless", "joint", "other", answer=1))
    events, first_end = screen.until(LaneEnded)
    assert (first_end.lane, first_end.reason) == (1, "eos")
    screen.send(Cancel(), ask("hello", answer=2))
    rest, compared = screen.until(Compared)
    (cut,) = _ended(rest)
    assert (cut.lane, cut.reason, cut.text) == (0, "cancelled", "…held back")
    assert cut.statistics.steps == len(lane_steps_in([*events, *rest], 0))
    # What is nonsense from the first word on parts there.
    assert compared.partings[1].index == 0
    assert screen.until(Finished)[1].answer == 2


def test_as_far_as_both_got_they_say_the_same(screen):
    screen.send(Load("tiny"), compare("endless", "joint", "lookup"))
    screen.until(LaneStepped)
    screen.send(Cancel())
    events, compared = screen.until(Compared)
    assert [event.reason for event in _ended(events)] == ["cancelled", "cancelled"]
    assert compared.partings == (None, None)


def test_paused_one_step_of_one_lane_comes_at_a_time_and_then_all_go_on(screen):
    screen.send(Load("tiny"), compare("endless", "joint", "lookup"), Pause())
    events = []
    for _ in range(60):
        screen.send(StepOnce())
        events.append(screen.until(LaneStepped)[1])
    # First what was on its way when the pause came, then one step for each that was asked for.
    singles = events[-30:]
    assert {len(event.steps) for event in singles} == {1}
    assert {event.lane for event in singles} == {0, 1}
    screen.send(Resume())
    while sum(len(event.steps) for event in events) < 500:
        events.append(screen.until(LaneStepped)[1])
    screen.send(Cancel())
    events += screen.until(Compared)[0]
    # Messages of two lanes may overtake each other, steps do not: in the end the clocks are no further apart than a step.
    lanes = [lane_steps_in(events, lane) for lane in range(2)]
    clocks = [sum(step.ms for step in steps) for steps in lanes]
    assert abs(clocks[0] - clocks[1]) <= max(step.ms for steps in lanes for step in steps) + 1e-6


def test_what_lanes_decode_with_stays_whatever_the_chat_adjusts(screen):
    screen.send(Load("tiny"), compare("endless", "joint", "joint", budget=3), Adjust(Decoding(budget=7)))
    for _ in range(4):
        assert {len(step.tree.tokens) for step in screen.until(LaneStepped)[1].steps} == {3}
    screen.send(Cancel())
    screen.until(Compared)


def test_cancel_stops_the_reading_of_a_long_conversation(screen):
    screen.send(Load("tiny"), compare("read for ever", "joint", "plain"))
    screen.until(Loaded)
    assert screen.until(Progress)[1].stage == "reading the conversation"
    screen.send(Cancel(), ask("hello", answer=2))
    events, compared = screen.until(Compared)
    assert [(event.lane, event.reason, event.statistics.tokens) for event in _ended(events)] == [
        (0, "cancelled", 0),
        (1, "cancelled", 0),
    ]
    assert compared.partings == (None, None)
    assert screen.until(Finished)[1].answer == 2


@pytest.mark.parametrize(
    ("then", "its_end"),
    [
        (ask("hello", answer=2), Finished),
        (compare("hello", "plain", "joint", answer=2), Compared),
        (Load("other"), Loaded),
    ],
)
def test_what_needs_the_engine_for_something_else_ends_it_and_comes_next(screen, then, its_end):
    screen.send(Load("tiny"), compare("endless", "joint", "lookup", answer=1))
    screen.until(LaneStepped)
    screen.send(then)
    assert screen.until(Compared)[1].answer == 1
    end = screen.until(its_end)[1]
    assert getattr(end, "answer", 2) == 2


def test_a_lane_that_cannot_be_refuses_all_before_anything_runs(screen):
    screen.send(Load("tiny"), compare("hello", "plain", "medusa", answer=3))
    screen.until(Loaded)
    before, failed = screen.until(Failed)
    assert before == []
    assert (failed.kind, failed.answer, failed.advice) == ("refused", 3, "This model has no heads.")
    screen.send(compare("hello", "plain", "joint", answer=4))
    assert screen.until(Compared)[1].answer == 4


def test_without_a_model_there_is_nothing_to_compare_with(screen):
    screen.send(compare("hello", "plain", "joint", answer=3))
    _, failed = screen.until(Failed)
    assert (failed.kind, failed.answer) == ("refused", 3)
    assert "No model is loaded" in failed.advice


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_comparison_that_fails_keeps_its_steps_and_the_next_question_is_served(screen, problem):
    screen.send(Load("tiny"), compare(problem, "joint", "lookup", answer=1))
    screen.until(Loaded)
    events, failed = screen.until(Failed)
    assert (failed.kind, failed.answer) == (KINDS[problem], 1)
    assert [[step.index for step in lane_steps_in(events, lane)] for lane in range(2)] == [[1, 2], [1, 2]]
    assert not _ended(events)
    screen.send(ask("hello", answer=2))
    events, finished = screen.until(Finished)
    assert finished.answer == 2
    assert steps_in(events) == list(steps_of(REPLY))


def test_it_ends_with_the_screen_even_in_the_middle_of_a_comparison(screen):
    screen.send(Load("tiny"), compare("endless", "joint", "lookup"))
    screen.until(LaneStepped)
    screen.hang_up()
    screen.gone.wait()
