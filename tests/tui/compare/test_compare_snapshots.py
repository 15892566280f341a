"""How a comparison looks: three lanes of which one parts, at its end and halfway."""

from __future__ import annotations

from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE
from doubles.scripted_engine import ScriptedEngine
from textual.widgets._footer import FooterKey

from medusa_chat.tui.compare.lane_text import LaneText
from medusa_chat.tui.compare.screen import CompareScreen

TEXT = """Paris is the capital of France. It lies on the **Seine**, and has done so for more than two thousand years.

1. The Eiffel Tower, built for the fair of 1889.
2. The Louvre, once a palace, now a museum.
3. `Métro` stations never far apart; 東京 has more.

Would you like to know more about any of these, or about the river and its thirty-seven bridges?"""
OTHER = TEXT.replace("a palace", "a castle")

HALFWAY = 80


@DARK_AND_LIGHT
@EVERY_SIZE
def test_verdict(looks_as_kept, size, theme):
    assert looks_as_kept(race, engine=engine(), size=size, theme=theme)


@DARK_AND_LIGHT
def test_race(looks_as_kept, theme):
    async def halfway(chat: Chat) -> None:
        await race(chat, HALFWAY)

    assert looks_as_kept(halfway, engine=engine(), size=(120, 40), theme=theme)


def test_verdict_in_the_terminal_s_own_colours(looks_as_kept):
    assert looks_as_kept(race, engine=engine(), size=(80, 24), theme="ansi-16")


def engine() -> ScriptedEngine:
    return ScriptedEngine("Hello! How can I help?", lanes=(TEXT, TEXT, OTHER))


async def race(chat: Chat, steps: int | None = None) -> None:
    """Three lanes after so many steps of theirs together, None: at the end."""
    await chat.ask("Hello.")
    await chat.finish()
    comparisons = chat.screen.dialogue.comparisons
    chat.composer.text = "What is the capital of France, and what is it known for?"
    await chat.pilot.press("ctrl+r")
    await chat.until(lambda: comparisons.running)
    await chat.pilot.press("plus")
    await chat.until(lambda: not comparisons.running)
    await chat.pilot.press("enter")
    await chat.until(lambda: comparisons.running)
    chat.engine.play(steps)
    await chat.until(lambda: comparisons.running == (steps is not None) and comparisons.newest.runs[2].tally.tokens)
    screen = chat.app.screen
    assert isinstance(screen, CompareScreen)
    lanes = list(screen.query(LaneText))
    await chat.until(lambda: screen.settled and all(lane.scroll_y == lane.max_scroll_y for lane in lanes))
    await chat.until(lambda: {key.key for key in screen.query(FooterKey)} >= ({"d"} if steps is None else {"space"}))
