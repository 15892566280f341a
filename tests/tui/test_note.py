"""The muted line under an answer: which figures, and which of them where room is short."""

from __future__ import annotations

import pytest
from doubles.step_records import steps_of

from medusa_chat.host.messages import Failed, Finished, Statistics, StepTaken
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.note import summary
from medusa_chat.tui.turn import Turn

TEXT = "Paris is the capital of France, and lies on the Seine."


def ended(reason="eos") -> Turn:
    turn = Turn(1, "Capital?")
    turn.take(StepTaken(1, steps_of(TEXT)))
    tokens = turn.tally.tokens
    turn.take(Finished(1, reason, Statistics(9, tokens, turn.tally.steps, turn.tally.ms / 1000, 0.25, 8.0)))
    turn.tally.plain_ms = 8.0
    return turn


def test_every_figure_where_there_is_room():
    turn = ended()
    tally, steps = turn.tally, steps_of(TEXT)
    tested, kept = sum(len(step.tree.tokens) - 1 for step in steps), sum(len(step.path) - 1 for step in steps)
    assert summary(turn, 200) == (
        f"{tally.tokens} tokens · {tally.ms / 1000:.1f} s · {tally.tokens_per_second:.1f} tokens/s"
        f" · {tally.acceleration_rate:.2f} tokens/step · {tally.speedup:.2f}× · {kept} of {tested} guesses kept"
        f" · first token {0.25 + steps[0].ms / 1000:.2f} s · complete"
    )


@pytest.mark.parametrize("width", [8, 20, 36, 57, 74, 80, 110, 200])
def test_it_never_breaks_and_always_says_how_it_ended(width):
    rows = summary(ended("length"), width).splitlines()
    assert rows[-1].endswith("cut at the token limit")
    assert all(len(row) <= max(width, len("cut at the token limit")) for row in rows)
    assert len(rows) <= (1 if width < 44 else 2)


def test_what_tells_least_goes_first():
    turn = ended()
    shorter = [summary(turn, width) for width in (110, 64, 48, 40, 26, 10)]
    assert [("first token" in s, "guesses" in s, " s ·" in s, "tokens ·" in s, "/step" in s, "/s" in s) for s in shorter] == [
        (True, True, True, True, True, True),
        (True, True, True, True, True, True),
        (False, False, True, True, True, True),
        (False, False, False, False, False, True),
        (False, False, False, False, False, True),
        (False, False, False, False, False, False),
    ]  # fmt: skip


def test_an_answer_that_broke_off_or_never_began():
    turn = Turn(1, "Capital?")
    turn.take(Failed("died", "It ended."))
    assert summary(turn, 80) == "broken off"


async def test_a_stored_answer_has_the_same_line_and_fits_a_narrow_screen(open_chat):
    async with open_chat(TEXT, size=(200, 40)) as chat:
        await chat.ask()
        await chat.finish()
        await chat.until(lambda: "guesses kept" in chat.note())
        said = chat.note()
    async with open_chat("Never.", size=(200, 40)) as chat:
        await chat.pilot.press("ctrl+o")
        await chat.until(lambda: len(chat.app.screen_stack) == 2 and chat.app.screen.query("OptionList"))
        await chat.until(lambda: chat.app.screen.query_one("OptionList").option_count)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(AnswerView))
        await chat.until(lambda: chat.note() == said)
        await chat.pilot.resize_terminal(40, 12)
        await chat.until(lambda: chat.answer.query_one(".note").size.height == 1 and chat.note().endswith("complete"))
