"""The double must compare as an engine does, or tests of the screen prove nothing."""

from __future__ import annotations

import pytest
from doubles.scripted_engine import LOADED, ScriptedEngine
from doubles.scripted_race import GAP
from doubles.step_records import token_id

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import (
    Cancel,
    ChatMessage,
    Compare,
    Compared,
    Event,
    Failed,
    Generate,
    Lane,
    LaneEnded,
    LaneStepped,
    Parting,
    Pause,
    Resume,
    StepOnce,
    StepRecord,
)

TEXT = "The capital of France is Paris, a city on the river Seine."
LANES = (Lane("plain", Decoding("plain")), Lane("joint", Decoding("joint")))
ASK = Compare(answer=7, messages=(ChatMessage("user", "What is the capital of France?"),), lanes=LANES)


def _steps(events: list[Event], lane: int) -> list[StepRecord]:
    return [step for event in events if isinstance(event, LaneStepped) and event.lane == lane for step in event.steps]


def _asked(*replies: str, **options) -> ScriptedEngine:
    engine = ScriptedEngine(*replies, **options)
    engine.send(ASK)
    return engine


def test_one_reply_is_every_lane_s_and_plain_decoding_takes_a_step_a_token():
    events = _asked(TEXT, instant=True).drain()
    plain, joint = _steps(events, 0), _steps(events, 1)
    assert "".join(step.text for step in plain) == "".join(step.text for step in joint) == TEXT
    assert {len(step.tokens) for step in plain} == {1}
    assert len(joint) < len(plain)
    ended = [event for event in events if isinstance(event, LaneEnded)]
    assert [event.lane for event in ended] == [1, 0]
    assert {event.statistics.tokens for event in ended} == {len(plain)}
    assert ended[1].statistics.plain_ms == pytest.approx(sum(step.ms for step in plain) / len(plain))
    assert events[-1] == Compared(7, (None, None))


def test_turns_are_fair_by_the_lanes_own_times():
    engine = _asked(lanes=(TEXT, TEXT))
    clocks, longest = [0.0, 0.0], [0.0, 0.0]
    events = _played(engine, 1)
    while not any(isinstance(event, LaneEnded) for event in events):
        (taken,) = [event for event in events if isinstance(event, LaneStepped)]
        (step,) = taken.steps
        assert clocks[taken.lane] == min(clocks)
        clocks[taken.lane] += step.ms
        longest[taken.lane] = max(longest[taken.lane], step.ms)
        assert abs(clocks[0] - clocks[1]) <= max(longest)
        events = _played(engine, 1)


def _played(engine: ScriptedEngine, turns: int | None = None) -> list[Event]:
    engine.play(turns)
    return engine.drain()


def test_texts_that_part_are_told_with_both_tokens():
    events = _played(_asked(lanes=("One two three.", "One two four.")))
    assert events[-1] == Compared(
        7, (None, Parting(2, (token_id(" three"), token_id(" four")), (" three", " four"), GAP))
    )


def test_a_text_that_goes_on_parts_from_the_other_s_end():
    verdict = _played(_asked(lanes=("One two", "One two three")))[-1]
    assert isinstance(verdict, Compared)
    assert verdict.partings[1].texts == ("<|im_end|>", " three")


def test_pause_step_once_resume_and_cancel_steer_all_lanes():
    engine = _asked(TEXT)
    engine.play(3)
    engine.send(Pause())
    engine.play()
    engine.send(StepOnce())
    assert sum(len(_steps(events, lane)) for events in [engine.drain()] for lane in (0, 1)) == 4
    engine.send(Resume())
    _played(engine, 2)
    engine.send(Cancel())
    first, second, verdict = engine.drain()
    assert [first.reason, second.reason] == ["cancelled", "cancelled"]
    # As far as both got they say the same.
    assert verdict == Compared(7, (None, None))
    assert _played(engine) == []


def test_a_failed_comparison_is_over_and_the_next_answer_comes():
    engine = _asked(TEXT)
    engine.emit(Failed("refused", "tiny has no Medusa heads here.", answer=7))
    engine.play()
    engine.send(Generate(8, ASK.messages))
    assert [type(event).__name__ for event in _played(engine)] == ["Failed", "StepTaken", "Finished"]


def test_without_a_plain_lane_the_plain_step_is_the_one_timed_after_loading():
    engine = ScriptedEngine(TEXT, instant=True)
    engine.send(Compare(7, ASK.messages, (LANES[1], Lane("lookup", Decoding("lookup")))))
    ended = [event for event in engine.drain() if isinstance(event, LaneEnded)]
    assert {event.statistics.plain_ms for event in ended} == {LOADED.plain_ms}
