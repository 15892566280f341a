"""The double must behave like an engine, or tests of the screen prove nothing."""

from __future__ import annotations

import pytest
from doubles.scripted_engine import ScriptedEngine
from doubles.step_records import END, LENGTHS, ROOT, steps_of, token_id

from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import (
    Cancel,
    ChatMessage,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Pause,
    Resume,
    StepOnce,
    StepTaken,
)
from medusa_chat.host.protocol import Engine

TEXT = "The capital of France is Paris. 東京は日本の首都です。\nIt's a city;  with two spaces, [bold]no markup[/bold]."
ASK = Generate(answer=7, messages=(ChatMessage("user", "What is the capital of France?"),))


@pytest.mark.parametrize("nodes", range(1, 9))
@pytest.mark.parametrize("finish", ["eos", "length", "stop"])
def test_steps_are_what_a_real_engine_would_leave(nodes, finish):
    steps = steps_of(TEXT, nodes=nodes, finish=finish)
    assert "".join(step.text for step in steps) == TEXT
    root = token_id(ROOT)
    for number, step in enumerate(steps, start=1):
        tree = step.tree
        assert step.index == number
        assert len(tree.tokens) == len(tree.parents) == len(tree.scores) == len(tree.texts) == nodes
        assert tree.tokens[0] == root
        assert [tree.parents[node] for node in step.path] == [-1, *step.path[:-1]]
        assert tuple(tree.tokens[node] for node in step.path[1:]) == step.tokens[:-1]
        for parent in range(nodes):
            children = [tree.tokens[node] for node in range(nodes) if tree.parents[node] == parent]
            assert len(set(children)) == len(children)
        root = step.tokens[-1]
    assert [step.finish for step in steps] == [None] * (len(steps) - 1) + [finish]
    assert (root == token_id(END)) == (finish == "eos")


def test_accepted_lengths_vary_as_asked():
    steps = steps_of(TEXT)
    assert [len(step.tokens) for step in steps[: len(LENGTHS)]] == list(LENGTHS)
    assert {len(step.tokens) for step in steps_of(TEXT, nodes=1)} == {1}


def test_a_conversation():
    engine: Engine = ScriptedEngine("One two three.", "Four.", instant=True)
    woken: list[int] = []
    engine.start(lambda: woken.append(1))
    engine.send(Load("other"))
    assert [event.model for event in engine.drain() if isinstance(event, Loaded)] == ["other"]
    engine.send(ASK)
    steps, finished = engine.drain()
    assert isinstance(steps, StepTaken)
    assert "".join(step.text for step in steps.steps) == "One two three."
    tally = Tally()
    for step in steps.steps:
        tally.add(len(step.tokens), step.ms)
    assert isinstance(finished, Finished)
    assert (finished.answer, finished.reason) == (7, "eos")
    assert (finished.statistics.tokens, finished.statistics.steps) == (tally.tokens, tally.steps)
    assert woken
    for _ in range(2):
        engine.send(ASK)
        event = engine.drain()[0]
        assert isinstance(event, StepTaken)
        assert "".join(step.text for step in event.steps) == "Four."


def test_pause_holds_play_back_and_step_once_takes_one():
    engine = ScriptedEngine(TEXT)
    engine.send(ASK)
    engine.play(2)
    engine.send(Pause())
    engine.play()
    engine.send(StepOnce())
    indices = [step.index for event in engine.drain() if isinstance(event, StepTaken) for step in event.steps]
    assert indices == [1, 2, 3]
    engine.send(Resume())
    engine.play()
    assert isinstance(engine.drain()[-1], Finished)


def test_cancel_ends_the_answer_and_a_death_does_too():
    engine = ScriptedEngine(TEXT)
    engine.send(ASK)
    engine.play(2)
    engine.send(Cancel())
    engine.play()
    _steps, finished = engine.drain()
    assert isinstance(finished, Finished)
    assert finished.reason == "cancelled"
    assert finished.statistics.steps == 2

    engine.send(ASK)
    engine.emit(Failed("died", "The engine was killed.", answer=7))
    engine.play()
    assert [type(event) for event in engine.drain()] == [Failed]
    assert engine.sent(Generate) == [ASK, ASK]
