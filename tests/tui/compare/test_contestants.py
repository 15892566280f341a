"""Which lanes there are to choose from, and how keys walk through them."""

from __future__ import annotations

from dataclasses import replace

from doubles.scripted_engine import LOADED

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.settings.presets import BUILT_IN
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.compare.contestants import Lineup, contestants, title

TYPICAL = Choices(Decoding("medusa", rule="typical"), Sampling())


def names(lanes) -> list[str]:
    return [lane.name for lane in lanes]


def lineup(choices: Choices = Choices(), last=()) -> Lineup:  # noqa: B008
    return Lineup.of(choices, contestants(choices, LOADED, BUILT_IN), last)


def test_every_decoder_every_preset_of_another_kind_and_the_settings_in_force():
    assert names(contestants(Choices(), LOADED)) == ["plain", "joint", "medusa", "lookup", "recycle"]
    assert names(contestants(TYPICAL, LOADED, BUILT_IN))[5:] == [
        *("conservative", "balanced", "standard", "aggressive"),
        "as set",
    ]


def test_without_heads_nobody_drafts_with_heads():
    lanes = contestants(Choices(), replace(LOADED, heads=0), BUILT_IN)
    assert "medusa" not in names(lanes)
    assert all(lane.decoding.heads is None for lane in lanes)


def test_plain_runs_against_the_settings_in_force():
    assert names(lineup().lanes) == ["plain", "joint"]
    assert names(lineup(TYPICAL).lanes) == ["plain", "as set"]
    assert names(lineup(Choices(Decoding("plain"))).lanes) == ["plain", "joint"]


def test_the_lanes_of_the_last_time_mean_what_is_set_now():
    last = lineup(TYPICAL).lanes
    lossless = Choices(Decoding("medusa", budget=4))
    again = lineup(lossless, last)
    assert names(again.lanes) == ["plain", "as set"]
    assert again.lanes[1].decoding == lossless.decoding
    assert names(lineup(Choices(), last).lanes) == ["plain", "joint"]


def test_turning_walks_all_that_run_in_no_other_lane_and_comes_back():
    walked = lineup()
    seen = []
    for _ in walked.known[1:]:
        walked.turn(1, 1)
        seen.append(walked.lanes[1].name)
    assert seen == [*names(walked.known)[2:], "joint"]
    walked.turn(0, -1)
    assert walked.lanes[0] == walked.known[-1]


def test_a_third_lane_is_one_that_does_not_run_yet():
    grown = lineup()
    grown.add()
    assert names(grown.lanes) == ["plain", "joint", "medusa"]
    assert grown.full
    grown.drop()
    assert names(grown.lanes) == ["plain", "joint"]


def test_lossy_lanes_are_called_lossy():
    assert [title(lane) for lane in lineup(TYPICAL).lanes] == ["plain", "as set · typical, lossy"]
