"""How what stands around a conversation looks: conversations, prompts, help, palette, branches and the cursor on messages;
four sizes, a dark and a light theme. A fixed day, so that dates stand still."""

from __future__ import annotations

import os
from datetime import datetime

import pytest
from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE
from textual.widgets import OptionList, TextArea

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat import conversation_list, help_text
from medusa_chat.tui.chat.conversation_lines import Conversations

NOW = datetime(2026, 5, 20, 12)
TITLES = (
    ("How do bees find their way home?", 0),
    ("A letter to the town hall, firm but kind", 0),
    ("東京 in three days, with children", 1),
    ("Why is the sky dark at night?", 3),
    ("Sorting a million names on a small machine: which way is the quickest?", 20),
    ("Names for a small black cat", 90),
)


FOLDER = "/home/ada/folders/with/rather/long/names/as/some/people/have/them/medusa-chat"
"""Where files lie, as the help says it: the folder of a test is longer on one machine than on another."""


class FixedDay(conversation_list.date):
    @classmethod
    def today(cls):
        return cls(NOW.year, NOW.month, NOW.day)


async def sidebar(chat: Chat) -> None:
    await chat.pilot.press("ctrl+b")
    await chat.until(lambda: chat.screen.query_one(Conversations).option_count > len(TITLES))
    await chat.pilot.press("j")


async def picker(chat: Chat) -> None:
    await chat.pilot.press("ctrl+o")
    await chat.until(lambda: len(chat.app.screen_stack) == 2)
    await chat.until(lambda: chat.app.screen.query_one(Conversations).option_count == len(TITLES))


async def system(chat: Chat) -> None:
    await chat.pilot.press("alt+s")
    await chat.until(lambda: len(chat.app.screen_stack) == 2 and chat.app.screen.query_one(TextArea).has_focus)
    await chat.pilot.press(*"Be brief.")


async def help(chat: Chat) -> None:
    await chat.pilot.press("f1")
    await chat.until(lambda: len(chat.app.screen_stack) == 2)


async def palette(chat: Chat) -> None:
    await chat.pilot.press("ctrl+p")
    await chat.until(lambda: len(chat.app.screen_stack) == 2 and chat.app.screen.query(OptionList).last().option_count)


async def branches(chat: Chat) -> None:
    """Three answers, the second of them shown and under the cursor."""
    await chat.ask("Which town is it?")
    await chat.finish()
    for number in (2, 3):
        await chat.pilot.press("alt+up", "r")
        await chat.until(lambda number=number: chat.answer.turn.answers[1] == number)
        await chat.finish()
    await chat.pilot.press("alt+up", "left_square_bracket")
    await chat.until(lambda: chat.screen.dialogue.current.answers == (2, 3) and chat.screen.marked is not None)
    await chat.until(lambda: chat.screen.settled)


PLACES = (sidebar, picker, system, help, palette, branches)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
@DARK_AND_LIGHT
@EVERY_SIZE
def test_around(looks_as_kept, monkeypatch, size, theme, place):
    monkeypatch.setattr(conversation_list, "date", FixedDay)
    home = os.environ["MEDUSA_CHAT_HOME"]
    monkeypatch.setattr(help_text, "_path", lambda place: str(place()).replace(home, FOLDER))
    keep()
    assert looks_as_kept(place, "Paris.", "It is Paris, on the Seine.", "Lyon.", size=size, theme=theme)


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
