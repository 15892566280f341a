"""How the chat looks: three sizes, few themes, one conversation halfway through its second answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual.pilot import Pilot

from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.chat.transcript import Transcript

FIRST = "Paris. It lies on the **Seine**."
SECOND = """It is known for:

1. The Eiffel Tower, built for the fair of 1889.
2. The Louvre, once a palace, now a museum.
3. `Métro` stations never far apart; 東京 has more.

```python
def greet(city: str) -> str:
    return f"Bonjour, {city}!"
```

> Paris is always a good idea.

Would you like to know more about any of these, or about the river and its thirty-seven bridges?"""

STEPS = 47


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_chat(snap_compare, size, theme):
    app, talk = conversation(theme)
    assert snap_compare(app, terminal_size=size, run_before=talk)


def test_chat_in_the_terminal_s_own_colours(snap_compare):
    app, talk = conversation("ansi-16")
    assert snap_compare(app, terminal_size=(80, 24), run_before=talk)


def test_choosing_a_theme(snap_compare):
    app, talk = conversation("contrast-light")

    async def choose(pilot: Pilot[None]) -> None:
        await talk(pilot)
        await pilot.press("ctrl+l", "down", "down", "down")
        await pilot.pause(0.1)

    assert snap_compare(app, terminal_size=(80, 24), run_before=choose)


def conversation(theme: str) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
    """The app, and what is said in it."""
    engine = ScriptedEngine(FIRST, SECOND)
    app = MedusaChatApp(engine, "smollm2-135m-instruct", theme=theme)
    app.animation_level = "none"

    async def talk(pilot: Pilot[None]) -> None:
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        await until(lambda: app.screen.query(Composer))
        composer, transcript = app.screen.query_one(Composer), app.screen.query_one(Transcript)
        composer.cursor_blink = False
        await until(lambda: app.screen.dialogue.loaded is not None)
        composer.text = "What is the capital of France?"
        await pilot.press("enter")
        await until(lambda: app.screen.query(AnswerView))
        await until(lambda: engine.play() or app.screen.query(AnswerView).last().query_one(".note").display)
        composer.text = "What is it known for?"
        await pilot.press("f5", "f4", "enter")
        await until(lambda: len(app.screen.query(AnswerView)) == 2)
        engine.play(STEPS)
        turn = app.screen.dialogue.turns[-1]
        await until(lambda: turn.tally.steps == STEPS)
        await until(lambda: app.screen.query(AnswerView).last().query_one(LiveText).tail == turn.text)
        await until(lambda: app.screen.settled)
        await until(lambda: transcript.scroll_y == transcript.max_scroll_y)
        await pilot.pause(0.1)

    return app, talk
