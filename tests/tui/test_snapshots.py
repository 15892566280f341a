"""How the chat looks: three sizes, few themes, one conversation halfway through its second answer."""

from __future__ import annotations

from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, sizes

from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.theme_picker import ThemePicker

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


@DARK_AND_LIGHT
@sizes((80, 24), (120, 40), (200, 60))
def test_chat(looks_as_kept, size, theme):
    assert looks_as_kept(talk, FIRST, SECOND, size=size, theme=theme)


def test_chat_in_the_terminal_s_own_colours(looks_as_kept):
    assert looks_as_kept(talk, FIRST, SECOND, size=(80, 24), theme="ansi-16")


def test_choosing_a_theme(looks_as_kept):
    async def choose(chat: Chat) -> None:
        await talk(chat)
        await chat.pilot.press("ctrl+l")
        await chat.until(lambda: isinstance(chat.app.screen, ThemePicker) and chat.app.screen.focused)
        await chat.pilot.press("down", "down", "down")

    assert looks_as_kept(choose, FIRST, SECOND, size=(80, 24), theme="contrast-light")


async def talk(chat: Chat) -> None:
    """A question answered, another one halfway."""
    await chat.ask("What is the capital of France?")
    await chat.finish()
    await chat.pilot.press("f5", "f4")
    await chat.ask("What is it known for?")
    chat.engine.play(STEPS)
    turn, transcript = chat.answer.turn, chat.screen.query_one(Transcript)
    await chat.until(lambda: turn.tally.steps == STEPS and chat.answer_source == turn.text)
    await chat.until(lambda: chat.screen.settled and transcript.scroll_y == transcript.max_scroll_y)
