"""Conversations at the side and in the picker: found, opened, named, put away, deleted, saved and brought in."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from time import time

import pytest
from textual.widgets import Input, Static

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.conversation_lines import Conversations
from medusa_chat.tui.chat.conversation_list import ConversationList
from medusa_chat.tui.chat.conversation_rows import group
from medusa_chat.tui.chat.conversations import ConversationsScreen
from medusa_chat.tui.chat.import_prompt import ImportPrompt
from medusa_chat.tui.chat.sidebar import Sidebar
from medusa_chat.tui.shelf import PAGE

WIDE = (200, 50)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where exports go."""
    downloads = tmp_path / "Downloads"
    downloads.mkdir()
    monkeypatch.setattr("platformdirs.user_downloads_path", lambda: downloads)
    return downloads


def keep(*titles: str, ages: tuple[float, ...] = ()) -> None:
    """Conversations of one question each, the last one newest; ages in days."""
    db = Database(chats_file())
    with db.transaction():
        for number, title in enumerate(titles):
            conversation = conversations.create(db)
            question = messages.add(db, conversation, None, "user", title)
            messages.add(db, conversation, question, "assistant", f"answer to {title}")
            age = ages[number] if ages else (len(titles) - number) / 1e6
            db.run("UPDATE conversation SET changed = ? WHERE id = ?", time() - age * 86400, conversation)
    db.close()


def rows(chat) -> list[str]:
    return [str(option.prompt) for option in chat.app.screen.query_one(Conversations).options]


def titles(chat) -> list[str]:
    return [line.strip().splitlines()[0] for line in rows(chat)]


async def shows(chat, *expected: str) -> None:
    await chat.until(lambda: titles(chat) == list(expected))


async def enter(chat) -> None:
    """From anywhere to the lines at the side."""
    await chat.pilot.press("ctrl+b")
    await chat.until(lambda: chat.screen.query_one(Conversations).has_focus)


async def test_they_are_grouped_by_day_newest_first_and_the_open_one_is_marked(open_chat):
    keep("Long ago?", "In the week?", "Yesterday?", "Today?", ages=(400, 3, 1, 0))
    past = datetime.now() - timedelta(days=400)
    async with open_chat("One.", size=WIDE) as chat:
        await shows(
            chat,
            "Today",
            "Today?",
            "Yesterday",
            "Yesterday?",
            "This week",
            "In the week?",
            f"{past:%B %Y}",
            "Long ago?",
        )
        await chat.ask("New one?")
        await chat.until(lambda: titles(chat)[:3] == ["Today", "● New one?", "Today?"])
        await enter(chat)
        await chat.pilot.press("g", "j", "j", "enter")
        await chat.until(lambda: chat.screen.query(AnswerView) and chat.answer.turn.text == "answer to Yesterday?")
        await chat.until(lambda: "● Yesterday?" in titles(chat))
        assert chat.composer.has_focus


def test_the_headings():
    today = date(2026, 5, 20)
    for days, heading in ((-1, "Today"), (0, "Today"), (1, "Yesterday"), (6, "This week"), (29, "This month")):
        assert group(datetime(2026, 5, 20, 12).timestamp() - days * 86400, today) == heading
    assert group(datetime(2026, 3, 2, 12).timestamp(), today) == "March 2026"


async def test_the_key_shows_it_enters_it_and_hides_it(open_chat):
    keep("One?")
    async with open_chat("x", size=(100, 30)) as chat:
        sidebar = chat.screen.query_one(Sidebar)
        assert not sidebar.display
        await enter(chat)
        assert sidebar.display
        await shows(chat, "Today", "One?")
        await chat.pilot.press("escape")
        assert chat.composer.has_focus
        await enter(chat)
        await chat.pilot.press("ctrl+b")
        await chat.until(lambda: not sidebar.display)
        assert chat.composer.has_focus
    async with open_chat("x", size=WIDE) as chat:
        assert chat.screen.query_one(Sidebar).display
        await chat.pilot.resize_terminal(120, 40)
        await chat.until(lambda: not chat.screen.query_one(Sidebar).display)


async def test_searching_marks_what_was_found(open_chat):
    keep("About cats?", "About dogs?")
    async with open_chat("x", size=WIDE) as chat:
        await enter(chat)
        await chat.pilot.press("slash", *"cat")
        await chat.until(lambda: titles(chat) == ["About cats?"])
        prompt = chat.screen.query_one(Conversations).get_option_at_index(0).prompt
        assert [prompt.plain[span.start : span.end] for span in prompt.spans if "underline" in str(span.style)] == [
            "cats"
        ]
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(AnswerView))
        assert chat.composer.text == ""


async def test_another_title_in_place(open_chat):
    keep("One?", "Two?")
    async with open_chat("x", size=WIDE) as chat:
        await enter(chat)
        await shows(chat, "Today", "Two?", "One?")
        await chat.pilot.press("G", "R")
        title = chat.screen.query_one("#title", Input)
        assert (title.value, title.has_focus) == ("One?", True)
        await chat.pilot.press("escape")
        await chat.until(lambda: not title.display)
        await chat.pilot.press("R")
        title.value = "  "
        await chat.pilot.press("enter")
        await chat.sees("needs a title", "#none")
        title.value = "مرحبا 🗼 [/x] \x1b[1m東京"
        await chat.pilot.press("enter")
        await shows(chat, "Today", "Two?", "مرحبا 🗼 [/x] ␛[1m東京")
        assert chat.screen.query_one(Conversations).has_focus


async def test_deleting_the_open_one_leaves_it_first_and_undo_brings_all_of_it_back(open_chat):
    keep("Other?")
    async with open_chat("A long answer that goes on.", size=WIDE) as chat:
        await chat.ask("Mine?")
        chat.engine.play(2)
        await chat.until(lambda: chat.answer.turn.tally.steps == 2)
        await enter(chat)
        await chat.until(lambda: titles(chat) == ["Today", "● Mine?", "Other?"])
        await chat.pilot.press("g", "ctrl+d")
        await shows(chat, "Today", "Other?")
        assert not chat.screen.query(AnswerView)
        assert chat.screen.query_one(Conversations).has_focus
        assert any("“Mine?” is deleted; ctrl+z" in toast for toast in chat.toasts)
        await chat.pilot.press("ctrl+z")
        await shows(chat, "Today", "Mine?", "Other?")
        await chat.pilot.press("g", "enter")
        await chat.until(lambda: chat.screen.query(AnswerView) and chat.answer.turn.text)
        await chat.until(lambda: chat.note().endswith("stopped"))


async def test_putting_away_and_taking_back(open_chat):
    keep("One?", "Two?")
    async with open_chat("x", size=WIDE) as chat:
        await enter(chat)
        await shows(chat, "Today", "Two?", "One?")
        await chat.pilot.press("a")
        await shows(chat, "Today", "One?")
        await chat.pilot.press("A")
        await shows(chat, "Today", "archived  Two?")
        await chat.pilot.press("a")
        await chat.sees("Nothing is archived.", "#none")
        await chat.pilot.press("A")
        await shows(chat, "Today", "Two?", "One?")


async def test_a_search_says_first_what_is_archived(open_chat):
    keep("A question with a title that is longer than the list is wide?")
    async with open_chat("x", size=WIDE) as chat:
        await enter(chat)
        await chat.until(lambda: len(titles(chat)) == 2)
        await chat.pilot.press("a", "slash", *"longer")
        await chat.until(lambda: [title[:20] for title in titles(chat)] == ["archived  A question"])


async def test_saving_and_bringing_in(open_chat, folder):
    keep("One?")
    async with open_chat("x", size=WIDE) as chat:
        await enter(chat)
        await shows(chat, "Today", "One?")
        await chat.pilot.press("x", "x", "X")
        await chat.until(lambda: len(chat.toasts) == 3)
        assert sorted(path.name for path in folder.iterdir()) == ["One 2.md", "One.json", "One.md"]
        assert any(str(folder / "One.json") in toast for toast in chat.toasts)
        commands = {command.title: command.callback for command in chat.app.get_system_commands(chat.screen)}
        await commands["Export as JSON"]()
        await chat.until(lambda: "There is nothing to export yet." in chat.toasts)
        commands["Import a conversation"]()
        await chat.until(lambda: isinstance(chat.app.screen, ImportPrompt) and chat.app.screen.query_one(Input))
        path, said = chat.app.screen.query_one(Input), chat.app.screen.query_one(Static)
        (folder / "bad.json").write_text(json.dumps({"format": "[/x]"}), encoding="utf-8")
        for words, problem in (
            (str(folder / "none.json"), "cannot be read"),
            (str(folder / "bad.json"), "is not a conversation exported"),
            (str(folder), "cannot be read"),
            ("~nobody-of-this-name/x.json", "home folder"),
        ):
            path.value = words
            await chat.pilot.press("enter")
            await chat.until(lambda problem=problem: problem in str(said.render()))
        path.value = f"'{folder / 'One.json'}'"
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.app.screen is chat.screen and chat.screen.query(AnswerView))
        assert chat.answer.turn.text == "answer to One?"
        await shows(chat, "Today", "● One?", "One?")
        await commands["Export as Markdown"]()
        await chat.until(lambda: (folder / "One 3.md").exists())


async def test_thousands_are_fetched_page_by_page(open_chat):
    keep(*(f"Number {number}?" for number in range(PAGE + 50)))
    async with open_chat("x", size=WIDE) as chat:
        found = chat.screen.query_one(Conversations)
        await chat.until(lambda: found.option_count == PAGE + 1)
        await enter(chat)
        await chat.pilot.press("G")
        await chat.until(lambda: found.option_count == PAGE + 51)
        await chat.pilot.press("G", "enter")
        await chat.until(lambda: chat.screen.query(AnswerView) and chat.answer.turn.question == "Number 0?")


async def test_the_picker_does_the_same(open_chat, folder):
    keep("One?", "Two?")
    async with open_chat("x", size=(80, 24)) as chat:
        await chat.pilot.press("ctrl+o")
        await chat.until(lambda: isinstance(chat.app.screen, ConversationsScreen))
        await chat.until(lambda: len(rows(chat)) == 2)
        await chat.pilot.press("tab", "a")
        await chat.until(lambda: len(rows(chat)) == 1)
        await chat.pilot.press("x", "R")
        chat.app.screen.query_one("#title", Input).value = "Better"
        await chat.pilot.press("enter")
        await chat.until(lambda: "Better" in rows(chat)[0])
        await chat.until(lambda: [path.name for path in folder.iterdir()] == ["One.md"])
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(AnswerView))
        assert chat.answer.turn.question == "One?"


async def test_a_file_that_cannot_be_opened_is_said_at_the_side(open_chat):
    chats_file().write_bytes(b"junk " * 1000)
    async with open_chat("x", size=WIDE) as chat:
        await chat.sees("could not be", "#none")
        await enter(chat)
        await chat.pilot.press("R", "d", "a", "x", "ctrl+z")
        assert chat.screen.query_one(ConversationList).marked is None
