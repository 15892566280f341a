"""The child's loop, over real pipes, with a fake model."""

from __future__ import annotations

import pytest
from doubles.fake_session import PROBLEMS, REPLY
from doubles.screen_ends import ask, steps_in
from doubles.step_records import steps_of

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.host.messages import (
    Adjust,
    Cancel,
    Failed,
    Finished,
    Load,
    Loaded,
    Pause,
    Progress,
    Resume,
    StepOnce,
    StepTaken,
)

KINDS = {"refused": "refused", "memory": "memory", "card memory": "memory", "cpu memory": "memory", "bug": "internal"}


def test_load_and_answer(screen):
    screen.send(Load("tiny"), ask("hello", answer=4))
    before, loaded = screen.until(Loaded)
    assert [event.stage for event in before if isinstance(event, Progress)] == ["reading weights"]
    assert loaded.model == "tiny"
    events, finished = screen.until(Finished)
    assert {event.answer for event in events} == {4}
    assert steps_in(events) == list(steps_of(REPLY))
    assert (finished.answer, finished.reason, finished.text) == (4, "eos", "")
    figures = finished.statistics
    assert figures.steps == len(steps_of(REPLY))
    assert figures.tokens == sum(len(step.tokens) for step in steps_of(REPLY))
    assert figures.seconds == pytest.approx(sum(step.ms for step in steps_of(REPLY)) / 1000)
    assert (figures.prompt_tokens, figures.prefill_seconds, figures.plain_ms) == (31, 0.25, loaded.plain_ms)


def test_fast_steps_travel_together_and_none_is_lost(screen):
    screen.send(Load("tiny"), ask("endless"))
    steps = []
    while len(steps) < 2000:
        steps += steps_in([screen.until(StepTaken)[1]])
    screen.send(Cancel())
    events, _ = screen.until(Finished)
    steps += steps_in(events)
    assert [step.index for step in steps] == list(range(1, len(steps) + 1))


def test_adjust_and_single_steps_and_resume(screen):
    screen.send(Load("tiny"), ask("endless", decoding=Decoding(budget=4)))
    screen.until(StepTaken)
    screen.send(
        Pause(),
        Adjust(Decoding(budget=1)),
        StepOnce(),
        Adjust(Decoding(budget=2)),
        StepOnce(),
        Adjust(Decoding(budget=3)),
        Resume(),
    )
    nodes: list[int] = []
    while 3 not in nodes:
        nodes += [len(step.tree.tokens) for step in screen.until(StepTaken)[1].steps]
    screen.send(Cancel())
    screen.until(Finished)
    first = nodes.index(1)
    assert set(nodes[:first]) <= {4}
    assert nodes[first : first + 2] == [1, 2]
    assert set(nodes[first + 2 :]) == {3}


def test_adjusted_sampling_counts_from_the_next_step_and_stays_where_none_is_named(screen):
    screen.send(Load("tiny"), ask("endless"), Pause())
    screen.until(Loaded)
    screen.send(
        Adjust(Decoding(), Sampling(temperature=0.8)),
        StepOnce(),
        Adjust(Decoding(budget=2)),
        StepOnce(),
        Adjust(Decoding("lookup"), Sampling()),
        StepOnce(),
        Cancel(),
    )
    events, _ = screen.until(Finished)
    assert [step.text for step in steps_in(events)][-3:] == [" warm"] * 3


def test_paused_nothing_comes_but_the_single_steps_asked_for(screen):
    screen.send(Load("tiny"), ask("endless", decoding=Decoding(budget=4)), Pause(), Adjust(Decoding(budget=1)))
    screen.send(StepOnce())
    nodes: list[int] = []
    while 1 not in nodes:
        nodes += [len(step.tree.tokens) for step in screen.until(StepTaken)[1].steps]
    assert nodes.count(1) == 1
    screen.send(StepOnce())
    assert len(screen.until(StepTaken)[1].steps) == 1
    screen.send(Cancel())
    events, finished = screen.until(Finished)
    assert steps_in(events) == []
    assert finished.statistics.steps == len(nodes) + 1


def test_cancel_keeps_what_was_written_and_frees_the_engine(screen):
    screen.send(Load("tiny"), ask("endless", answer=1))
    first = screen.until(StepTaken)[1].steps
    screen.send(Cancel(), ask("hello", answer=2))
    events, finished = screen.until(Finished)
    written = [*first, *steps_in(events)]
    assert (finished.answer, finished.reason, finished.text) == (1, "cancelled", "…held back")
    assert finished.statistics.tokens == sum(len(step.tokens) for step in written)
    _, second = screen.until(Finished)
    assert (second.answer, second.reason) == (2, "eos")


def test_a_new_question_ends_the_answer_still_running(screen):
    screen.send(Load("tiny"), ask("endless", answer=1), ask("hello", answer=2))
    assert screen.until(Finished)[1].reason == "cancelled"
    assert screen.until(Finished)[1].answer == 2


def test_cancel_stops_the_reading_of_a_long_conversation(screen):
    screen.send(Load("tiny"), ask("read for ever"))
    screen.until(Loaded)
    assert screen.until(Progress)[1].stage == "reading the conversation"
    screen.send(Pause(), StepOnce(), Cancel(), ask("hello", answer=2))
    _, finished = screen.until(Finished)
    assert (finished.answer, finished.reason, finished.statistics.tokens) == (1, "cancelled", 0)
    assert screen.until(Finished)[1].answer == 2


def test_options_the_model_cannot_follow_leave_the_answer_running(screen):
    screen.send(Load("tiny"), ask("endless", decoding=Decoding(budget=3)), Adjust(Decoding("lookup")))
    _, failed = screen.until(Failed)
    assert (failed.kind, failed.answer) == ("refused", None)
    assert {len(step.tree.tokens) for step in screen.until(StepTaken)[1].steps} == {3}
    screen.send(Cancel())
    screen.until(Finished)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_failed_answer_keeps_its_steps_and_the_next_one_is_served(screen, problem):
    screen.send(Load("tiny"), ask(problem, answer=1))
    screen.until(Loaded)
    events, failed = screen.until(Failed)
    assert (failed.kind, failed.answer) == (KINDS[problem], 1)
    assert "secret" not in failed.advice
    assert [step.index for step in steps_in(events)] == [1, 2]
    screen.send(ask("hello", answer=2))
    assert screen.until(Finished)[1].answer == 2


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_failed_load_is_told_and_the_next_one_is_served(screen, problem):
    screen.send(Load(problem), ask("hello"), Load("tiny"))
    assert screen.until(Failed)[1].kind == KINDS[problem]
    _, nothing_loaded = screen.until(Failed)
    assert (nothing_loaded.kind, nothing_loaded.answer) == ("refused", 1)
    assert screen.until(Loaded)[1].model == "tiny"


def test_a_refused_question_leaves_the_model_loaded(screen):
    screen.send(Load("tiny"), ask("too long", answer=1), ask("hello", answer=2))
    assert screen.until(Failed)[1].advice == "The prompt is too long; shorten it."
    assert screen.until(Finished)[1].answer == 2


def test_steering_without_an_answer_does_nothing(screen):
    screen.send(Pause(), Resume(), StepOnce(), Cancel(), Adjust(Decoding()), Load("tiny"), ask("hello"))
    events, _ = screen.until(Finished)
    assert not [event for event in events if isinstance(event, Failed)]


def test_it_ends_with_the_screen_even_in_the_middle_of_an_answer(screen):
    screen.send(Load("tiny"), ask("endless"))
    screen.until(StepTaken)
    screen.hang_up()
    screen.gone.wait()
