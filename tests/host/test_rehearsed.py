"""An answer that is due by the clock comes whole, in order and in its time."""

from __future__ import annotations

import pytest

from medusa_chat.host import rehearsed
from medusa_chat.host.messages import Cancel, ChatMessage, Finished, Generate, Load, Loaded, StepTaken
from medusa_chat.host.rehearsed import RehearsedEngine

ASK = Generate(1, (ChatMessage("user", "Go on."),))


@pytest.fixture
def clock(monkeypatch):
    time = [0.0]
    monkeypatch.setattr(rehearsed, "perf_counter", lambda: time[0])
    return time


def test_what_is_due_by_the_clock_comes_and_no_more(clock):
    engine = RehearsedEngine(500.0, 1000)
    engine.send(Load("any"))
    assert isinstance(engine.drain()[0], Loaded)
    engine.send(ASK)
    assert engine.drain() == []
    clock[0] = 0.04
    (taken,) = engine.drain()
    assert isinstance(taken, StepTaken)
    assert 20 <= sum(len(step.tokens) for step in taken.steps) == engine.tokens < 24
    assert engine.drain() == []


def test_an_answer_ends_at_its_length_and_all_of_it_was_said(clock):
    engine = RehearsedEngine(500.0, 1000)
    engine.send(ASK)
    texts, finished = [], None
    while finished is None:
        clock[0] += 0.1
        for event in engine.drain():
            if isinstance(event, StepTaken):
                texts += [step.text for step in event.steps]
            else:
                finished = event
    assert isinstance(finished, Finished)
    assert (finished.reason, finished.statistics.steps) == ("length", len(texts))
    assert 1000 <= finished.statistics.tokens == engine.tokens < 1005
    assert "".join(texts) == engine.text
    assert engine.text.startswith(rehearsed.ANSWER)


def test_steps_are_as_an_engine_leaves_them(clock):
    engine = RehearsedEngine(500.0, 1000)
    engine.send(ASK)
    clock[0] = 1.0
    (taken,) = engine.drain()
    assert isinstance(taken, StepTaken)
    root = "\n"
    for number, step in enumerate(taken.steps, start=1):
        assert step.index == number
        assert len(step.path) == len(step.tokens)
        assert step.tree.texts[0] == root
        assert step.beliefs is not None
        assert len(step.beliefs.entropies) == len(step.tree.texts) == rehearsed.NODES
        assert all(step.tree.parents[reason.node] in step.path for reason in step.reasons)
        won = "".join(step.tree.texts[node] for node in step.path[1:])
        assert step.text.startswith(won)
        root = step.text[len(won) :]


def test_it_stops_when_told_to(clock):
    engine = RehearsedEngine(500.0, 1000)
    engine.send(ASK)
    clock[0] = 0.1
    engine.drain()
    engine.send(Cancel())
    (finished,) = engine.drain()
    assert isinstance(finished, Finished)
    assert finished.reason == "cancelled"
    clock[0] = 5.0
    assert engine.drain() == []
