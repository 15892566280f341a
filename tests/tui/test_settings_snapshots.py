"""How the settings panel looks: four sizes, a dark and a light theme, a lossy preset in force while an answer is written."""

from __future__ import annotations

import pytest
from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE

from medusa_chat.settings import presets
from medusa_chat.tui.settings.setting_list import SettingList

ANSWER = "Paris. It lies on the Seine and is known for its museums, its bridges and its bread. " * 8
STEPS = 40


@DARK_AND_LIGHT
@EVERY_SIZE
def test_settings(looks_as_kept, settings, size, theme):
    assert looks_as_kept(settings("G", *["up"] * 6), ANSWER, size=size, theme=theme)


def test_a_wrong_value(looks_as_kept, settings):
    keys = ("g", *["down"] * 9, "enter", *"900", "enter")
    assert looks_as_kept(settings(*keys), ANSWER, size=(120, 40), theme="medusa-dark")


def test_in_the_terminal_s_own_colours(looks_as_kept, settings):
    assert looks_as_kept(settings("g", "down"), ANSWER, size=(80, 24), theme="ansi-16")


@pytest.fixture
def settings():
    """What is done in the app: a preset of the person's own is there, "balanced" is in force, then the keys."""
    presets.save("late night", "for stories", presets.BUILT_IN[1].decoding, presets.BUILT_IN[1].sampling)

    def pressed(*keys: str):
        async def look(chat: Chat) -> None:
            await chat.ask()
            chat.engine.play(STEPS)
            await chat.until(lambda: chat.answer.turn.tally.steps == STEPS)
            await chat.pilot.press("ctrl+s")
            await chat.until(lambda: chat.screen.query_one(SettingList).has_focus)
            rows = chat.screen.query_one(SettingList)
            await chat.until(lambda: any(getattr(row, "name", "") == "late night" for row in rows._rows))
            await chat.pilot.press("g", "down", "down", "down", "enter")
            await chat.until(lambda: chat.screen.dialogue.choices.decoding.lossy)
            await chat.pilot.press(*keys)
            await chat.until(lambda: chat.screen.settled)

        return look

    return pressed
