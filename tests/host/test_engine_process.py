"""The real process with a real, tiny, random model: as the app runs it."""

from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest
import torch
from doubles.screen_ends import WatchedClient, ask, lane_steps_in, steps_in
from doubles.tiny_models import save_tiny_model

from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.messages import (
    Cancel,
    ChatMessage,
    Compare,
    Compared,
    Failed,
    Finished,
    Lane,
    LaneEnded,
    Load,
    Loaded,
    Pause,
    Progress,
    StepOnce,
    StepTaken,
)
from medusa_chat.host.process import COMMAND

MEDUSA, PLAIN = Decoding("medusa", budget=8), Decoding("plain")


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Load:
    folder = save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", heads=3, context=512)
    return Load(str(folder), quantize="none")


@pytest.fixture(scope="module")
def loaded_engine(tmp_path_factory, model):
    """One process for the tests that leave it alive: starting it imports torch and transformers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEDUSA_CHAT_HOME", str(tmp_path_factory.mktemp("home")))
        patch.setenv("OMP_NUM_THREADS", "1")
        engine = WatchedClient(COMMAND)
        engine.send(model)
        before, loaded = engine.until(Loaded)
        yield engine, before, loaded
        engine.client.close()


def answer(engine: WatchedClient, number: int, decoding: Decoding):
    limits = Limits(max_tokens=40)
    engine.send(ask("The quick brown fox, you know?", number, decoding=decoding, sampling=Sampling(), limits=limits))
    return engine.until(Finished)


def test_loading_is_shown_and_says_what_was_loaded(loaded_engine):
    _, before, loaded = loaded_engine
    assert all(isinstance(event, Progress) for event in before)
    assert before[0].stage == "loading torch"
    assert len(before) > 1
    assert (loaded.heads, loaded.context, loaded.precision) == (3, 512, "float32")
    assert loaded.device == (torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu, 1 thread")
    assert loaded.plain_ms > 0


def test_medusa_and_plain_write_the_same(loaded_engine):
    engine, _, _ = loaded_engine
    texts = {}
    for number, decoding in enumerate((PLAIN, MEDUSA), start=1):
        events, finished = answer(engine, number, decoding)
        steps = steps_in(events)
        assert [step.index for step in steps] == list(range(1, len(steps) + 1))
        assert (finished.answer, finished.reason) == (number, "length")
        assert sum(len(step.tokens) for step in steps) == finished.statistics.tokens == 40
        assert {step.path[0] for step in steps} == {0}
        assert all(len(step.tree.tokens) == len(step.tree.texts) for step in steps)
        assert max(len(step.tree.tokens) for step in steps) == (1 if decoding is PLAIN else 8)
        texts[decoding.decoder] = "".join(step.text for step in steps) + finished.text
    assert texts["plain"] == texts["medusa"] != ""


def test_lanes_write_the_same_and_a_lossy_one_parts_from_them(loaded_engine):
    engine, _, _ = loaded_engine
    lossy = Decoding("medusa", budget=8, rule="typical", epsilon=0.01)
    lanes = (Lane("plain", PLAIN), Lane("medusa", MEDUSA), Lane("bold", lossy))
    warm, limits = Sampling(temperature=2.0, seed=3), Limits(max_tokens=40)
    engine.send(Compare(1, (ChatMessage("user", "The quick brown fox, you know?"),), lanes, warm, limits))
    events, compared = engine.until(Compared)
    texts = ["".join(step.text for step in lane_steps_in(events, lane)) for lane in range(3)]
    assert texts[0] == texts[1] != texts[2]
    same, _, parting = compared.partings
    assert (same, compared.partings[1]) == (None, None)
    said = [[token for step in lane_steps_in(events, lane) for token in step.tokens] for lane in (0, 2)]
    assert said[0][: parting.index] == said[1][: parting.index]
    assert parting.tokens == (said[0][parting.index], said[1][parting.index])
    assert parting.gap >= 0
    assert all(parting.texts)
    for event in events:
        if isinstance(event, LaneEnded):
            figures = event.statistics
            assert (event.reason, figures.tokens) == ("length", 40)
            assert figures.plain_ms > 0
            assert figures.prefill_seconds > 0


def test_text_held_back_for_a_stop_string_comes_with_the_cancel(loaded_engine):
    """The stop string never comes, but all of the answer could be its beginning: nothing may be shown, nothing lost."""
    engine, _, _ = loaded_engine
    question = ask("The quick brown fox", 1, decoding=PLAIN, limits=Limits(400))
    engine.send(question)
    whole = steps_in(engine.until(Finished)[0])
    never = "".join(step.text for step in whole) + "\0"
    engine.send(replace(question, limits=Limits(400, stop=(never,))), Pause(), *[StepOnce()] * 12)
    shown: list[str] = []
    while len(shown) < 12:
        shown += [step.text for step in engine.until(StepTaken)[1].steps]
    engine.send(Cancel())
    events, finished = engine.until(Finished)
    assert finished.reason == "cancelled"
    assert {*shown, *(step.text for step in steps_in(events))} == {""}
    written = "".join(step.text for step in whole[: finished.statistics.steps])
    # Half a character at the very end shows as a replacement character once nothing can complete it.
    assert finished.text in (written, written + "\ufffd")
    assert len(written) > 1


def test_a_prompt_that_does_not_fit_is_refused_and_the_next_is_answered(loaded_engine):
    engine, _, _ = loaded_engine
    engine.send(ask("a long story " * 200, 7, decoding=MEDUSA))
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("refused", 7)
    assert "512" in failed.advice
    assert answer(engine, 8, MEDUSA)[1].answer == 8


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX systems")
def test_killed_in_the_middle_of_an_answer_it_comes_back(loaded_engine):
    engine, _, _ = loaded_engine
    engine.send(ask("The quick brown fox", 1, decoding=PLAIN, limits=Limits(480)))
    engine.until(StepTaken)
    os.kill(engine.client.pid, signal.SIGKILL)
    _, failed = engine.until(Failed)
    assert (failed.kind, failed.answer) == ("died", 1)
    events, finished = answer(engine, 2, MEDUSA)
    assert [type(event) for event in events if isinstance(event, Loaded | Failed)] == [Loaded]
    assert (finished.answer, finished.statistics.tokens) == (2, 40)
