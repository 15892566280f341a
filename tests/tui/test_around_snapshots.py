"""How what stands around a conversation looks: conversations, prompts, help, palette, branches and the cursor on messages;
four sizes, a dark and a light theme. A fixed day, so that dates stand still."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual.pilot import Pilot
from textual.widgets import Input, OptionList

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat import conversation_list
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.conversation_list import Conversations

NOW = datetime(2026, 5, 20, 12)
TITLES = (
    ("How do bees find their way home?", 0),
    ("A letter to the town hall, firm but kind", 0),
    ("東京 in three days, with children", 1),
    ("Why is the sky dark at night?", 3),
    ("Sorting a million names on a small machine: which way is the quickest?", 20),
    ("Names for a small black cat", 90),
)


class FixedDay(conversation_list.date):
    @classmethod
    def today(cls):
        return cls(NOW.year, NOW.month, NOW.day)


SIZES = pytest.mark.parametrize(
    "size", [(40, 12), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}"
)
THEMES = pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])


async def sidebar(pilot: Pilot[None], until) -> None:
    await pilot.press("ctrl+b")
    await until(lambda: pilot.app.screen.query_one(Conversations).option_count > len(TITLES))
    await pilot.press("j")


async def picker(pilot: Pilot[None], until) -> None:
    await pilot.press("ctrl+o")
    await until(lambda: len(pilot.app.screen_stack) == 2 and pilot.app.screen.query(Conversations))
    await until(lambda: pilot.app.screen.query_one(Conversations).option_count == len(TITLES))


async def system(pilot: Pilot[None], until) -> None:
    await pilot.press("alt+s")
    await until(lambda: len(pilot.app.screen_stack) == 2)
    await pilot.press(*"Be brief.")
    for area in pilot.app.screen.query("TextArea"):
        area.cursor_blink = False


async def help(pilot: Pilot[None], until) -> None:
    await pilot.press("f1")
    await until(lambda: len(pilot.app.screen_stack) == 2)


async def palette(pilot: Pilot[None], until) -> None:
    await pilot.press("ctrl+p")
    await until(lambda: pilot.app.screen.query(OptionList) and pilot.app.screen.query(OptionList).last().option_count)


async def branches(pilot: Pilot[None], until) -> None:
    """Three answers, the second of them shown and under the cursor."""
    chat = pilot.app.screen
    for number in range(3):
        if number == 0:
            chat.query_one(Composer).text = "Which town is it?"
            await pilot.press("enter")
        else:
            await pilot.press("alt+up", "r")
        await until(
            lambda number=number: chat.dialogue.current is not None and chat.dialogue.current.answers[1] == number + 1
        )
        await until(lambda: pilot.app._engine.play() or not chat.dialogue.busy)
        await until(lambda: chat.query(AnswerView).last().query_one(".note").display)
    await pilot.press("alt+up", "left_square_bracket")
    await until(lambda: chat.dialogue.current.answers == (2, 3) and chat.marked is not None)
    await until(lambda: chat.settled)


PLACES = (sidebar, picker, system, help, palette, branches)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@THEMES
@SIZES
def test_around(snap_compare, monkeypatch, size, theme, place):
    monkeypatch.setattr(conversation_list, "date", FixedDay)
    app, look = around(theme, place)
    assert snap_compare(app, terminal_size=size, run_before=look)


def around(theme: str, place) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
    """The app, and the way to a place in it."""
    keep()
    app = MedusaChatApp(
        ScriptedEngine("Paris.", "It is Paris, on the Seine.", "Lyon."), "smollm2-135m-instruct", theme=theme
    )
    app.animation_level = "none"

    async def look(pilot: Pilot[None]) -> None:
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        await until(lambda: app.screen.query(Composer) and app.screen.dialogue.loaded is not None)
        app.screen.query_one(Composer).cursor_blink = False
        await place(pilot, until)
        for field in app.screen.query(Input):
            field.cursor_blink = False
        await pilot.pause(0.2)

    return app, look


def keep() -> None:
    """Conversations of one question each."""
    db = Database(chats_file())
    with db.transaction():
        for place, (title, days) in enumerate(TITLES):
            conversation = conversations.create(db)
            question = messages.add(db, conversation, None, "user", title)
            messages.add(db, conversation, question, "assistant", f"Answer {place}.")
            changed = NOW.timestamp() - days * 86400 - place
            db.run("UPDATE conversation SET changed = ? WHERE id = ?", changed, conversation)
    db.close()
