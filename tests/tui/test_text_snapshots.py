"""How answers look by their tokens and flat, in every script, and prompts that wait."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual.pilot import Pilot

from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.queued import QueuedPrompts
from medusa_chat.tui.chat.token_view import TokenText
from medusa_chat.tui.chat.transcript import Transcript

TEXT = """Emoji 👩‍👩‍👧‍👦 👍🏽, 東京と北京, שלום עליכם, e\u0301 and n\u0303:

| city | people |
|---|---|
| 東京 | 14 million |
| Lyon | 0.5 million |

```python
def greet(city: str) -> str:
    return f"Bonjour, {city}! 東京"
```

Every one of them is as wide as the terminal thinks."""


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_by_tokens(snap_compare, size, theme):
    app, talk = conversation(theme)

    async def by_tokens(pilot: Pilot[None]) -> None:
        await talk(pilot)
        await pilot.press("f10")
        await until(pilot, lambda: app.screen.query(TokenText) and app.screen.query_one(TokenText).size.height)
        await at_the_end(pilot)

    assert snap_compare(app, terminal_size=size, run_before=by_tokens)


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60), (40, 12)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_prompts_waiting_below_a_flat_answer(snap_compare, size, theme):
    app, talk = conversation(theme)

    async def wait(pilot: Pilot[None]) -> None:
        await talk(pilot)
        await app.screen.query_one(AnswerView).freeze()
        await ask(pilot, "And the cafés?")
        for prompt in ("Which river flows through 東京?", "How many bridges\nare there?"):
            await ask(pilot, prompt)
        await until(pilot, lambda: len(app.screen.query_one(QueuedPrompts).prompts) == 2)
        await at_the_end(pilot)

    assert snap_compare(app, terminal_size=size, run_before=wait)


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    for _ in range(400):
        if condition():
            return
        await pilot.pause(0.01)
    assert condition()


async def ask(pilot: Pilot[None], question: str) -> None:
    pilot.app.screen.query_one(Composer).text = question
    await pilot.press("enter")


async def at_the_end(pilot: Pilot[None]) -> None:
    transcript = pilot.app.screen.query_one(Transcript)
    await until(pilot, lambda: pilot.app.screen.settled and transcript.scroll_y == transcript.max_scroll_y)
    await pilot.pause(0.1)


def conversation(theme: str) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
    """The app, and one question answered in it."""
    engine = ScriptedEngine(TEXT)
    app = MedusaChatApp(engine, "smollm2-135m-instruct", theme=theme)
    app.animation_level = "none"

    async def talk(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: app.screen.query(Composer))
        app.screen.query_one(Composer).cursor_blink = False
        await until(pilot, lambda: app.screen.dialogue.loaded is not None)
        await ask(pilot, "How is 東京 written? 👩‍👩‍👧 שלום")
        await until(pilot, lambda: app.screen.query(AnswerView))
        await until(pilot, lambda: engine.play() or app.screen.query(AnswerView).last().query_one(".note").display)

    return app, talk
