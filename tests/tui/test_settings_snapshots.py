"""How the settings panel looks: four sizes, a dark and a light theme, a lossy preset in force while an answer is written."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual.pilot import Pilot

from medusa_chat.settings import presets
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.settings.setting_list import SettingList

ANSWER = "Paris. It lies on the Seine and is known for its museums, its bridges and its bread. " * 8
STEPS = 40


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_settings(snap_compare, size, theme):
    app, look = settings(theme, "G", *["up"] * 6)
    assert snap_compare(app, terminal_size=size, run_before=look)


def test_a_wrong_value(snap_compare):
    app, look = settings("medusa-dark", "g", *["down"] * 9, "enter", *"900", "enter")
    assert snap_compare(app, terminal_size=(120, 40), run_before=look)


def test_in_the_terminal_s_own_colours(snap_compare):
    app, look = settings("ansi-16", "g", "down")
    assert snap_compare(app, terminal_size=(80, 24), run_before=look)


def settings(theme: str, *keys: str) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
    """The app, and what is done in it: a preset of the person's own is there, "balanced" is in force, then the keys."""
    presets.save("late night", "for stories", presets.BUILT_IN[1].decoding, presets.BUILT_IN[1].sampling)
    engine = ScriptedEngine(ANSWER)
    app = MedusaChatApp(engine, "smollm2-135m-instruct", theme=theme)
    app.animation_level = "none"

    async def look(pilot: Pilot[None]) -> None:
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        await until(lambda: app.screen.query(Composer) and app.screen.dialogue.loaded is not None)
        composer = app.screen.query_one(Composer)
        composer.cursor_blink = False
        composer.text = "What is the capital of France?"
        await pilot.press("enter")
        await until(lambda: app.screen.dialogue.busy)
        engine.play(STEPS)
        await until(lambda: app.screen.dialogue.turns[-1].tally.steps == STEPS)
        await pilot.press("ctrl+s")
        await until(lambda: app.screen.query(SettingList) and app.screen.query_one(SettingList).has_focus)
        rows = app.screen.query_one(SettingList)
        await until(lambda: any(getattr(row, "name", "") == "late night" for row in rows._rows))
        await pilot.press("g", "down", "down", "down", "enter")
        await until(lambda: app.screen.dialogue.choices.decoding.lossy)
        await pilot.press(*keys)
        await until(lambda: app.screen.settled)
        for line in app.screen.query("ValueLine"):
            line.cursor_blink = False
        await pilot.pause(0.2)

    return app, look
