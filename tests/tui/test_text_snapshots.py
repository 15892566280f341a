"""How answers look by their tokens and flat, in every script, and prompts that wait."""

from __future__ import annotations

from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE

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


@DARK_AND_LIGHT
@EVERY_SIZE
def test_by_tokens(looks_as_kept, size, theme):
    async def by_tokens(chat: Chat) -> None:
        await talk(chat)
        await chat.pilot.press("f10")
        await chat.until(lambda: chat.screen.query_one(TokenText).size.height)
        await at_the_end(chat)

    assert looks_as_kept(by_tokens, TEXT, size=size, theme=theme)


@DARK_AND_LIGHT
@EVERY_SIZE
def test_prompts_waiting_below_a_flat_answer(looks_as_kept, size, theme):
    async def wait(chat: Chat) -> None:
        await talk(chat)
        await chat.answer.freeze()
        await chat.ask("And the cafés?")
        queued = chat.screen.query_one(QueuedPrompts)
        for number, prompt in enumerate(("Which river flows through 東京?", "How many bridges\nare there?"), 1):
            chat.composer.text = prompt
            await chat.pilot.press("enter")
            await chat.until(lambda number=number: len(queued.prompts) == number)
        await at_the_end(chat)

    assert looks_as_kept(wait, TEXT, size=size, theme=theme)


async def talk(chat: Chat) -> None:
    await chat.ask("How is 東京 written? 👩‍👩‍👧 שלום")
    await chat.finish()


async def at_the_end(chat: Chat) -> None:
    transcript = chat.screen.query_one(Transcript)
    await chat.until(lambda: chat.screen.settled and transcript.scroll_y == transcript.max_scroll_y)
