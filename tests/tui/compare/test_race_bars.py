"""The bars and the sentence of a race: one scale for all lanes, and nothing said that did not happen."""

from __future__ import annotations

import pytest
from doubles.comparisons import JOINT, LOOKUP, OTHER, PLAIN, TEXT, Race
from rich.cells import cell_len

from medusa_chat.host.messages import Failed
from medusa_chat.tui.compare.race import race, story
from medusa_chat.tui.compare.scoreboard import scoreboard


def test_while_it_runs_bars_are_tokens_won_in_the_same_time():
    comparison = Race(TEXT).play(12)
    plain, joint = comparison.runs
    drawn = race(comparison)
    assert drawn.scale == f"tokens at {comparison.clock / 1000:.2f} s"
    won = [run.tokens_at(comparison.clock) for run in (plain, joint)]
    assert won[1] > won[0] > 0
    assert drawn.bars[1].filled / drawn.bars[0].filled == pytest.approx(won[1] / won[0])
    assert story(comparison, paused=False).startswith(f"joint is {won[1] - won[0]} tokens ahead of plain after ")
    assert story(comparison, paused=True).startswith("paused: joint is ")


def test_at_the_end_of_equal_answers_bars_are_seconds_with_the_winner_marked():
    comparison = Race(TEXT).play()
    plain, joint = comparison.runs
    drawn = race(comparison)
    assert drawn.scale == "time to finish"
    assert [bar.filled for bar in drawn.bars] == [1.0, pytest.approx(joint.tally.ms / plain.tally.ms)]
    assert drawn.bars[0].mark == pytest.approx(joint.tally.ms / plain.tally.ms)
    assert drawn.bars[1].mark is None
    then = plain.tokens_at(joint.tally.ms)
    assert (
        story(comparison, False)
        == f"⚑ joint was done after {joint.tally.ms / 1000:.2f} s; by then plain had {then} tokens"
    )


def test_answers_of_different_lengths_are_held_against_each_other_when_the_first_was_done():
    comparison = Race(TEXT, OTHER).play()
    winner = comparison.winner
    assert winner is comparison.runs[1]
    drawn = race(comparison)
    assert drawn.scale == f"tokens at {winner.tally.ms / 1000:.2f} s"
    assert drawn.bars[0].filled / drawn.bars[1].filled == pytest.approx(
        comparison.runs[0].tokens_at(winner.tally.ms) / winner.tally.tokens
    )


def test_the_others_are_named_in_order():
    said = story(Race(TEXT, lanes=(PLAIN, JOINT, LOOKUP)).play(), False)
    assert "by then plain had " in said
    assert ", lookup " in said


def test_stopped_and_failed():
    ran = Race(TEXT)
    ran.play(8)
    ran.comparison.stopping = True
    assert story(ran.comparison, False) == "stopping …"
    assert story(ran.cancel(), False).startswith("stopped: joint is ")
    failed = Race(TEXT)
    failed.engine.emit(Failed("died", "The engine ended.", answer=1))
    assert story(failed.fold(), False) == ""
    assert race(failed.comparison).bars[0].filled == 0.0


@pytest.mark.parametrize("width", [38, 60, 70, 76, 100, 116, 196])
@pytest.mark.parametrize("steps", [0, 1, 9, None])
def test_a_scoreboard_is_as_wide_as_it_may_be(width, steps):
    ran = Race(TEXT, OTHER, lanes=(PLAIN, JOINT, LOOKUP))
    comparison = ran.play(steps) if steps != 0 else ran.comparison
    lines = scoreboard(comparison, comparison.lanes, width).plain.split("\n")
    assert len(lines) == 4
    assert {cell_len(line) for line in lines} == {width}
    assert lines[2].startswith("2 joint")


def test_a_scoreboard_has_the_figures_of_the_tallies():
    comparison = Race(TEXT).play()
    plain, joint = (run.tally for run in comparison.runs)
    _, first, second = scoreboard(comparison, comparison.lanes, 116).plain.split("\n")
    assert first.split()[-6:] == [
        str(plain.tokens), f"{plain.ms / 1000:.2f}", f"{plain.tokens_per_second:.1f}", "1.00", "1.00", "1.00×",
    ]  # fmt: skip
    assert second.split()[-6:] == [
        str(joint.tokens), f"{joint.ms / 1000:.2f}", f"{joint.tokens_per_second:.1f}",
        f"{joint.acceleration_rate:.2f}", f"{joint.overhead:.2f}", f"{joint.speedup:.2f}×",
    ]  # fmt: skip
    assert "⚑" in first


def test_before_the_first_run_there_are_names_only():
    lines = scoreboard(None, [PLAIN, JOINT], 76).plain.split("\n")
    assert lines[0].strip() == ""
    assert lines[1].startswith("1 plain")
