"""What was searched for is what is shown: the conversation opens at the message that has the words."""

from __future__ import annotations

import pytest
from doubles.branches import beside

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.conversation_lines import Conversations
from medusa_chat.tui.chat.conversations import ConversationsScreen
from medusa_chat.tui.chat.earlier import MOUNTED
from medusa_chat.tui.chat.message_view import MessageView, QuestionView
from medusa_chat.tui.chat.transcript import Transcript

TURNS = 30
SIZES = pytest.mark.parametrize(("key", "size"), [("ctrl+b", (200, 50)), ("ctrl+b", (90, 24)), ("ctrl+o", (80, 24))])
"""At the side, in place of the chat, and in the picker."""


@pytest.fixture(autouse=True)
def ids() -> list[int]:
    """Of the messages of a long conversation: question 0, its answer, question 1 and so on."""
    made: list[int] = []
    db = Database(chats_file())
    with db.transaction():
        conversation = conversations.create(db)
        for number in range(TURNS):
            for role, word in (("user", "question"), ("assistant", "answer")):
                made.append(messages.add(db, conversation, made[-1] if made else None, role, f"{word}{number}x"))
        conversations.rename(db, conversation, "A zebra")
    db.close()
    return made


def add_beside(message: int, content: str, below: str) -> None:
    """On a branch of its own, with a question below, while the old branch stays chosen."""
    db = Database(chats_file())
    chosen = messages.branch(db, 1)[-1].id
    messages.add(db, 1, beside(db, message, content), "user", below)
    messages.choose(db, chosen)
    db.close()


def kept() -> list[str]:
    """The active branch on the disk."""
    db = Database(chats_file())
    try:
        return [each.content for each in messages.branch(db, 1)]
    finally:
        db.close()


def shown(chat) -> list[str]:
    return [view.said for view in chat.screen.query("QuestionView, AnswerView")]


async def open_hit(chat, key: str, words: str) -> None:
    await chat.pilot.press(key)
    if key == "ctrl+o":
        await chat.until(lambda: isinstance(chat.app.screen, ConversationsScreen))
    else:
        await chat.until(lambda: chat.screen.query_one(Conversations).has_focus)
        await chat.pilot.press("slash")
    await chat.pilot.press(*words)
    found = chat.app.screen.query_one(Conversations)
    await chat.until(lambda: found.option_count and "\n" in str(found.options[0].prompt))
    await chat.pilot.press("enter")
    await chat.until(lambda: chat.app.screen is chat.screen and chat.screen.query(AnswerView))


async def lands_on(chat, said: str, kind: type[MessageView]) -> None:
    transcript = chat.screen.query_one(Transcript)
    await chat.until(
        lambda: chat.screen.marked is not None and transcript.content_region.y <= chat.screen.marked.region.y
    )
    marked = chat.screen.marked
    await chat.until(lambda: transcript.region.contains_region(marked.region))
    assert (marked.said, type(marked)) == (said, kind)


@SIZES
async def test_a_hit_far_up_is_mounted_marked_and_in_view_and_esc_leads_back(open_chat, key, size):
    async with open_chat("Later.", size=size) as chat:
        await open_hit(chat, key, "question3x")
        await lands_on(chat, "question3x", QuestionView)
        transcript = chat.screen.query_one(Transcript)
        assert not transcript.following
        assert transcript.new_lines == 0
        held = transcript.scroll_y
        transcript.settle()
        await chat.pilot.pause()
        assert transcript.scroll_y == held
        assert shown(chat)[0] == "question3x"
        assert shown(chat)[-1] == "answer29x"
        await chat.pilot.press("escape")
        assert chat.composer.has_focus
        await chat.ask("Go on?")
        await chat.until(lambda: transcript.following)


async def test_of_a_hit_too_far_up_to_bring_back_at_once_it_is_said_where_it_is(open_chat, monkeypatch):
    monkeypatch.setattr("medusa_chat.tui.chat.opening.AT_ONCE", 10)
    async with open_chat("Later.", size=(80, 24)) as chat:
        await open_hit(chat, "ctrl+o", "question3x")
        await chat.until(lambda: any(f"{TURNS - 3 - MOUNTED} turns further up" in toast for toast in chat.toasts))
        assert len(chat.screen.query(AnswerView)) == MOUNTED
        assert chat.composer.has_focus


async def test_a_hit_near_the_end_needs_no_more_turns(open_chat):
    async with open_chat("Later.", size=(80, 24)) as chat:
        await open_hit(chat, "ctrl+o", "answer29x")
        await lands_on(chat, "answer29x", AnswerView)
        assert len(chat.screen.query(AnswerView)) < TURNS


@SIZES
async def test_a_hit_in_the_title_opens_the_end(open_chat, key, size):
    async with open_chat("Later.", size=size) as chat:
        await open_hit(chat, key, "zebra")
        transcript = chat.screen.query_one(Transcript)
        await chat.until(lambda: transcript.max_scroll_y and transcript.following)
        assert chat.composer.has_focus
        assert transcript.marked is None


@SIZES
async def test_a_hit_on_another_branch_shows_it_but_chooses_it_only_when_one_goes_on(open_chat, ids, key, size):
    add_beside(ids[3], "another gnu", "below")
    before = kept()
    async with open_chat("Later.", size=size) as chat:
        await open_hit(chat, key, "gnu")
        await lands_on(chat, "another gnu", AnswerView)
        assert shown(chat) == ["question0x", "answer0x", "question1x", "another gnu", "below", ""]
        assert chat.screen.marked.turn.answers == (2, 2)
        await chat.screen.shelf.find("")
        assert kept() == before
        await chat.pilot.press("escape")
        await chat.ask("Go on?")
        await chat.finish()
        await chat.until(lambda: kept()[-2:] == ["Go on?", "Later."])
        assert kept()[3:5] == ["another gnu", "below"]


async def test_an_export_has_the_branch_that_is_shown(open_chat, ids, tmp_path, monkeypatch):
    monkeypatch.setattr("platformdirs.user_downloads_path", lambda: tmp_path)
    add_beside(ids[4], "reworded gnu", "below")
    async with open_chat("Later.", size=(80, 24)) as chat:
        await open_hit(chat, "ctrl+o", "gnu")
        await lands_on(chat, "reworded gnu", QuestionView)
        commands = {command.title: command.callback for command in chat.app.get_system_commands(chat.screen)}
        await commands["Export as Markdown"]()
        assert "reworded gnu" in (tmp_path / "A zebra.md").read_text()


async def test_what_was_left_meanwhile_is_not_read(open_chat):
    async with open_chat("Later.", size=(80, 24)) as chat:
        await open_hit(chat, "ctrl+o", "question3x")
        await lands_on(chat, "question3x", QuestionView)
        turn = chat.screen.marked.turn
        await chat.pilot.press("ctrl+n")
        transcript = chat.screen.query_one(Transcript)
        await chat.until(lambda: not transcript.messages)
        await transcript.read(turn, asked=True)
        await chat.pilot.pause()
        assert chat.composer.has_focus


async def test_without_words_the_end_opens_after_a_search_too(open_chat):
    async with open_chat("Later.", size=(200, 50)) as chat:
        await open_hit(chat, "ctrl+b", "answer3x")
        await lands_on(chat, "answer3x", AnswerView)
        found = chat.screen.query_one(Conversations)
        chat.screen.query_one("#words").value = ""
        await chat.until(lambda: found.option_count == 2)
        found.focus()
        await chat.pilot.press("G", "enter")
        transcript = chat.screen.query_one(Transcript)
        await chat.until(lambda: chat.composer.has_focus and transcript.max_scroll_y and transcript.following)
        assert transcript.marked is None
