"""The verdict says what the engine found, in words a person understands without the screen."""

from __future__ import annotations

import pytest
from doubles.comparisons import JOINT, LOOKUP, OTHER, PLAIN, TEXT, Race

from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import ChatMessage, Compared, Failed, Lane, Parting
from medusa_chat.tui.compare.verdict import report, verdict

LOSSY = Lane("aggressive", Decoding(rule="typical", epsilon=0.05))


def parting(**changes) -> Parting:
    return Parting(**{"index": 36, "tokens": (7, 9), "texts": (" France", " Paris"), "gap": 0.0213} | changes)


def ended_with(part: Parting | None, lane: Lane = JOINT):
    """A comparison that ran to its end, with that verdict of the engine."""
    race = Race(TEXT, lanes=(PLAIN, lane))
    race.play()
    race.comparison.take(Compared(1, (None, part)))
    return race.comparison


def test_nothing_is_said_while_it_runs():
    assert verdict(Race(TEXT).play(5)) == []


def test_identical():
    comparison = Race(TEXT).play()
    tally = comparison.runs[1].tally
    [line] = verdict(comparison)
    assert line.whole == (
        f"= joint: identical, {tally.tokens} tokens · {tally.speedup:.2f}×: "
        f"{tally.acceleration_rate:.2f} tokens/step at {tally.overhead:.2f} overhead"
    )


def test_parting():
    [line] = verdict(ended_with(parting()))
    assert line.sign == "≠"
    assert line.words == "joint parts from plain at token 37: “·Paris” against “·France”, logits 0.021 apart"
    assert line.speed


def test_a_parting_where_one_has_ended():
    [line] = verdict(ended_with(parting(tokens=(None, 9), texts=("", " Paris"), gap=None)))
    assert line.words == "joint parts from plain at token 37: “·Paris” against its end"


def test_tokens_are_shown_as_text_and_never_obeyed():
    [line] = verdict(ended_with(parting(texts=("\x1b[31m", "\n"))))
    assert "“↵” against “␛[31m”" in line.words


@pytest.mark.parametrize("part", [None, parting()])
def test_lossy_lanes_are_called_lossy(part):
    [line] = verdict(ended_with(part, LOSSY))
    assert line.words.startswith("aggressive · typical, lossy")


def test_every_other_lane_has_its_line():
    lines = verdict(Race(TEXT, TEXT, OTHER, lanes=(PLAIN, JOINT, LOOKUP)).play())
    assert [line.sign for line in lines] == ["=", "≠"]
    assert lines[1].words.startswith("lookup parts from plain at token 6: “·Lyon” against “·Paris”, logits 0.25 apart")


def test_stopped():
    race = Race(TEXT)
    race.play(9)
    comparison = race.cancel()
    [line] = verdict(comparison)
    assert line.words == f"joint: identical as far as both got, {comparison.runs[0].tally.tokens} tokens"


def test_stopped_before_the_first_token():
    assert verdict(Race(TEXT).cancel()) == []


def test_failed():
    race = Race(TEXT)
    race.play(4)
    race.engine.emit(Failed("memory", "Out of memory with two lanes; \x1b close one.", answer=1))
    [line] = verdict(race.fold())
    assert line.whole == "✗ Out of memory with two lanes; ␛ close one."


def test_a_report_can_be_read_without_the_screen():
    messages = (
        ChatMessage("user", "Hello."),
        ChatMessage("assistant", "Hello."),
        ChatMessage("user", "What is the capital of France?"),
    )
    comparison = Race(TEXT, lanes=(PLAIN, JOINT), messages=messages).play()
    asked, table, said = report(comparison).split("\n\n")
    assert asked == "What is the capital of France?\n(with 2 earlier messages)"
    heading, plain, joint = table.split("\n")
    assert heading.split() == ["lane", "tokens", "seconds", "tokens/s", "tokens/step", "overhead", "speedup", "ended"]
    assert plain.split()[0] == "plain"
    assert joint.split()[1] == str(comparison.runs[1].tally.tokens)
    assert joint.endswith("complete")
    assert plain.index("1.00×") + len("1.00×") == heading.index("speedup") + len("speedup")
    assert said == verdict(comparison)[0].whole


def test_a_report_of_a_running_comparison_says_so():
    assert "not ended" in report(Race(TEXT).play(5))
