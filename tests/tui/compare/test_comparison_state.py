"""What a comparison knows must be what the engine said, at whatever pace it came."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.comparisons import JOINT, LOOKUP, OTHER, PLAIN, PROMPT, TEXT, Race
from doubles.scripted_engine import LOADED, ScriptedEngine
from doubles.step_records import steps_of

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Limits, Sampling
from medusa_chat.host.messages import (
    Cancel,
    ChatMessage,
    Compare,
    Failed,
    Generate,
    LaneEnded,
    LaneStepped,
    Load,
    Pause,
    Progress,
    Resume,
    StepOnce,
)
from medusa_chat.tui.dialogue import Dialogue
from medusa_chat.tui.journal import Journal


@pytest.mark.parametrize("batch", [1, 4, None])
def test_every_lane_has_its_own_text_tally_and_clock(batch):
    race = Race(TEXT)
    comparison = race.comparison
    while comparison.running:
        race.play(batch)
    plain, joint = comparison.runs
    assert plain.text == joint.text == TEXT
    assert plain.tally.tokens == joint.tally.tokens == plain.tally.steps
    assert joint.tally.steps < plain.tally.steps
    assert plain.tally.ms == pytest.approx(sum(step.ms for step in steps_of(TEXT, nodes=1)))
    assert comparison.over
    assert not comparison.stopped
    assert comparison.winner is joint


def test_the_plain_lane_measures_the_others():
    comparison = Race(TEXT).play()
    plain, joint = comparison.runs
    assert plain.tally.speedup == pytest.approx(1.0)
    assert joint.tally.overhead == pytest.approx(joint.tally.step_ms / plain.tally.step_ms)
    assert joint.tally.speedup == pytest.approx(joint.tally.tokens_per_second / plain.tally.tokens_per_second)


def test_without_a_plain_lane_the_measured_plain_step_counts():
    comparison = Race(TEXT, lanes=(JOINT, LOOKUP)).play()
    assert comparison.baseline is None
    assert comparison.runs[0].tally.plain_ms == LOADED.plain_ms


def test_tokens_are_counted_at_one_clock_for_all():
    """However far ahead one lane's message was read, no lane is ahead of the clock."""
    comparison = Race(TEXT).comparison
    steps = steps_of(TEXT, nodes=1)
    comparison.take(LaneStepped(1, 0, steps[:5]))
    assert comparison.clock == 0.0
    assert comparison.runs[0].tokens_at(comparison.clock) == 0
    joint = steps_of(TEXT)
    comparison.take(LaneStepped(1, 1, joint[:2]))
    assert comparison.clock == pytest.approx(joint[0].ms + joint[1].ms)
    assert comparison.runs[1].tokens_at(comparison.clock) == len(joint[0].tokens) + len(joint[1].tokens)
    assert comparison.runs[0].tokens_at(comparison.clock) == 2


def test_a_lane_that_is_done_holds_the_clock_back_no_longer():
    race = Race(TEXT)
    plain, joint = race.comparison.runs
    while not joint.ended:
        race.play(1)
    comparison = race.play(1)
    assert comparison.winner is joint
    assert comparison.clock == plain.tally.ms > joint.tally.ms


def test_the_place_where_texts_part_is_known_while_they_grow():
    race = Race(TEXT, OTHER)
    assert race.play(4).runs[1].parted is None
    comparison = race.play()
    assert comparison.runs[0].parted is None
    assert comparison.runs[1].parted == TEXT.index("Paris")
    parting = comparison.runs[1].parting
    assert parting is not None
    assert parting.texts == (" Paris", " Lyon")


def test_a_text_that_only_goes_on_parts_where_the_other_ended():
    comparison = Race("Paris.", "Paris. It lies on the Seine.").play()
    assert comparison.runs[1].parted == len("Paris.")


def test_a_text_cut_short_does_not_part():
    race = Race(TEXT)
    race.play(6)
    comparison = race.cancel()
    assert comparison.stopped
    assert not comparison.running
    assert comparison.winner is None
    assert [run.parted for run in comparison.runs] == [None, None]


def test_text_held_back_until_the_end_is_not_lost():
    race = Race(TEXT)
    race.engine.send(Cancel())
    event = next(event for event in race.engine.drain() if isinstance(event, LaneEnded))
    race.comparison.take(replace(event, text="half"))
    assert race.comparison.runs[event.lane].text == "half"


def dialogue(engine: ScriptedEngine) -> Dialogue:
    made = Dialogue(engine, "tiny", Journal())
    made.model.open()
    take_all(made)
    return made


def take_all(made: Dialogue) -> None:
    for event in made.drain():
        made.take(event)


def test_a_dialogue_starts_a_comparison_with_the_settings_in_force():
    engine = ScriptedEngine(TEXT)
    made = dialogue(engine)
    made.change("temperature", 1)
    comparison = made.compare(PROMPT, [PLAIN, JOINT])
    assert engine.sent(Compare) == [Compare(1, PROMPT, (PLAIN, JOINT), Sampling(temperature=0.2), Limits())]
    assert made.comparisons.running
    engine.emit(Progress("reading the conversation", 0.5))
    take_all(made)
    assert comparison.stage == Progress("reading the conversation", 0.5)
    assert made.stage is None
    engine.play()
    take_all(made)
    assert comparison.over
    assert not made.comparisons.running


def test_a_running_answer_comes_first():
    engine = ScriptedEngine(TEXT)
    made = dialogue(engine)
    made.ask("What is the capital of France?")
    with pytest.raises(MedusaError, match="Still answering: Esc stops it first"):
        made.compare(PROMPT, [PLAIN, JOINT])
    assert not engine.sent(Compare)


def test_answer_ids_are_shared_and_events_of_others_change_nothing():
    engine = ScriptedEngine(TEXT)
    made = dialogue(engine)
    made.ask("What is the capital of France?")
    engine.play()
    take_all(made)
    old = made.compare(PROMPT, [PLAIN, JOINT])
    engine.play(3)
    late = engine.drain()
    new = made.compare(PROMPT, [PLAIN, JOINT])
    assert [request.answer for request in engine.sent(Compare)] == [2, 3]
    assert engine.sent(Cancel)
    for event in late:
        made.take(event)
    assert old.changes == new.changes == 0
    assert made.turns[0].text == TEXT


def test_a_question_ends_a_comparison():
    engine = ScriptedEngine(TEXT)
    made = dialogue(engine)
    comparison = made.compare(PROMPT, [PLAIN, JOINT])
    engine.play(3)
    turn = made.ask("And of Spain?")
    assert [type(request) for request in engine.requests[-2:]] == [Cancel, Generate]
    engine.play()
    take_all(made)
    assert comparison.stopped
    assert turn.text == TEXT


def test_pausing_and_stepping_hold_all_lanes():
    engine = ScriptedEngine(TEXT)
    made = dialogue(engine)
    comparison = made.compare(PROMPT, [PLAIN, JOINT])
    made.pause()
    assert engine.paused
    made.step_once()
    take_all(made)
    assert sum(run.tally.steps for run in comparison.runs) == 1
    made.resume()
    assert not made.paused
    made.pause()
    made.comparisons.stop()
    take_all(made)
    assert not made.paused
    assert [type(request) for request in engine.requests[-5:]] == [Pause, StepOnce, Resume, Pause, Cancel]


def test_a_failure_keeps_what_was_written():
    engine = ScriptedEngine(TEXT)
    made = dialogue(engine)
    comparison = made.compare(PROMPT, [PLAIN, JOINT])
    engine.play(5)
    engine.emit(Failed("memory", "Out of memory; choose fewer lanes.", answer=1))
    take_all(made)
    assert comparison.failure == "Out of memory; choose fewer lanes."
    assert not made.comparisons.running
    assert all(TEXT.startswith(run.text) for run in comparison.runs)
    assert Load("tiny") in engine.requests


def test_what_was_said_before_a_turn():
    engine = ScriptedEngine("Paris.", "Madrid.")
    made = dialogue(engine)
    for question in ("And of France?", "And of Spain?"):
        made.ask(question)
        engine.play()
        take_all(made)
    said = [ChatMessage("user", "And of France?"), ChatMessage("assistant", "Paris.")]
    assert made.talk.before(made.turns[0]) == ()
    assert list(made.talk.before(made.turns[1])) == said
    assert list(made.talk.before(None))[2:] == [
        ChatMessage("user", "And of Spain?"),
        ChatMessage("assistant", "Madrid."),
    ]
