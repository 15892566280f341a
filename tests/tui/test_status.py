"""The line above the composer leaves out whole what has no room; nothing in it is cut to a rest that says nothing."""

from __future__ import annotations

import pytest
from textual.content import Content

from medusa_chat.engine.options import Decoding
from medusa_chat.tui.chat.status import StatusLine, summary, that_fit
from medusa_chat.tui.choices import Choices
from medusa_chat.tui.settings.setting_list import SettingList

TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums. " * 4
BARS = "▁▂▃▄▅▆▇█"


def test_what_is_said_last_is_left_out_first_and_the_first_part_stays():
    parts = (Content("a rule"), Content("a speed"), Content("東京"))
    assert [that_fit(parts, width).plain for width in (21, 20, 19, 15, 14, 3)] == [
        "a rule  a speed  東京", "a rule  a speed", "a rule  a speed", "a rule  a speed", "a rule", "a rule",
    ]  # fmt: skip
    assert that_fit((), 10).plain == ""


def test_that_a_rule_is_lossy_comes_first():
    lossy = Choices(Decoding(rule="typical"))
    assert [part.plain for part in summary(None, lossy, 5)] == ["typical, lossy", "joint", "ctrl+t opens the panel"]


@pytest.mark.parametrize(("size", "bars"), [((40, 12), 0), ((80, 24), 4), ((120, 40), 0), ((140, 40), 4)])
async def test_accepted_lengths_are_shown_whole_or_not_at_all(open_chat, size, bars):
    """The settings take the Medusa panel's place at 120 columns and more."""
    async with open_chat(TEXT, size=size) as chat:
        await chat.ask()
        chat.engine.play(4)
        await chat.until(lambda: chat.answer.turn.tally.steps == 4)
        if size[0] >= 120:
            await chat.pilot.press("ctrl+s")
            await chat.until(lambda: isinstance(chat.app.focused, SettingList))
        await chat.sees("tokens/s", StatusLine)
        line = chat.screen.query_one(StatusLine)
        await chat.until(lambda: sum(cell in BARS for cell in chat.shown(line)) == bars)
        assert "…" not in chat.shown(line)
