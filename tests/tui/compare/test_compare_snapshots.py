"""How a comparison looks: three lanes of which one parts, at its end and halfway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual.pilot import Pilot
from textual.widgets._footer import FooterKey

from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.compare.lane_text import LaneText
from medusa_chat.tui.compare.screen import CompareScreen

TEXT = """Paris is the capital of France. It lies on the **Seine**, and has done so for more than two thousand years.

1. The Eiffel Tower, built for the fair of 1889.
2. The Louvre, once a palace, now a museum.
3. `Métro` stations never far apart; 東京 has more.

Would you like to know more about any of these, or about the river and its thirty-seven bridges?"""
OTHER = TEXT.replace("a palace", "a castle")

HALFWAY = 80


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_verdict(snap_compare, size, theme):
    app, race = comparison(theme, None)
    assert snap_compare(app, terminal_size=size, run_before=race)


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
def test_race(snap_compare, theme):
    app, race = comparison(theme, HALFWAY)
    assert snap_compare(app, terminal_size=(120, 40), run_before=race)


def test_verdict_in_the_terminal_s_own_colours(snap_compare):
    app, race = comparison("ansi-16", None)
    assert snap_compare(app, terminal_size=(80, 24), run_before=race)


def comparison(theme: str, steps: int | None) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
    """The app, and what happens in it before it is looked at."""
    engine = ScriptedEngine("Hello! How can I help?", lanes=(TEXT, TEXT, OTHER))
    app = MedusaChatApp(engine, "smollm2-135m-instruct", theme=theme)
    app.animation_level = "none"

    async def race(pilot: Pilot[None]) -> None:
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        await until(lambda: app.screen.query(Composer) and app.screen.dialogue.loaded is not None)
        dialogue, composer = app.screen.dialogue, app.screen.query_one(Composer)
        comparisons = dialogue.comparisons
        composer.text = "Hello."
        await pilot.press("enter")
        await until(lambda: dialogue.busy)
        engine.play()
        await until(lambda: not dialogue.busy and app.screen.query(Transcript))
        composer.text = "What is the capital of France, and what is it known for?"
        await pilot.press("ctrl+r")
        await until(lambda: comparisons.running)
        await pilot.press("plus")
        await until(lambda: not comparisons.running)
        await pilot.press("enter")
        await until(lambda: comparisons.running)
        engine.play(steps)
        await until(lambda: comparisons.running == (steps is not None) and comparisons.newest.runs[2].tally.tokens)
        screen = app.screen
        assert isinstance(screen, CompareScreen)
        lanes = list(screen.query(LaneText))
        await until(lambda: screen.settled and all(lane.scroll_y == lane.max_scroll_y for lane in lanes))
        await until(lambda: {key.key for key in screen.query(FooterKey)} >= ({"d"} if steps is None else {"space"}))
        await pilot.pause(0.3)

    return app, race
