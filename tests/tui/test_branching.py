"""Edit, regenerate and walk, driven by keys, with what the disk holds and what the model reads."""

from __future__ import annotations

import sqlite3

from doubles.scripted_engine import ScriptedEngine

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.host.messages import Generate
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import EDITING, READY
from medusa_chat.tui.chat.message_view import QuestionView, SiblingLine

ANSWERS = [f"Answer {number}." for number in range(1, 6)]


def kept(number: int = 0) -> list[str]:
    """The active branch on the disk."""
    db = Database(chats_file())
    try:
        return [each.content for each in messages.branch(db, conversations.newest(db, 9)[number].id)]
    finally:
        db.close()


def shown(chat) -> list[str]:
    return [view.said for view in chat.screen.query("QuestionView, AnswerView")]


def sent(chat) -> list[str]:
    """What the model was given to read last."""
    return [message.content for message in chat.engine.sent(Generate)[-1].messages]


async def talk(chat, *questions: str) -> None:
    for question in questions:
        await chat.ask(question)
        await chat.finish()


async def again(chat, *keys: str) -> None:
    """Keys that ask the model once more, and its answer to the end."""
    asked = len(chat.engine.sent(Generate))
    await chat.pilot.press(*keys)
    await chat.until(lambda: len(chat.engine.sent(Generate)) > asked)
    await chat.until(lambda: chat.answer.turn is chat.screen.dialogue.current)
    await chat.finish()


async def test_an_edited_question_begins_a_branch_and_walking_swaps_them(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?", "Two?", "Three?")
        chat.composer.text = "half a thought"
        await chat.pilot.press("alt+up", *"kkk", "e")
        assert (chat.composer.text, chat.composer.border_subtitle) == ("Two?", EDITING)
        await again(chat, "space", "b", "enter")
        assert shown(chat) == ["One?", "Answer 1.", "Two? b", "Answer 4."]
        assert sent(chat) == ["One?", "Answer 1.", "Two? b"]
        assert (chat.composer.text, chat.composer.border_subtitle) == ("half a thought", READY)
        await chat.sees("[ 2/2 ]", QuestionView)
        await chat.until(lambda: kept() == shown(chat))
        await chat.pilot.press("alt+up", "k", "left_square_bracket")
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1.", "Two?", "Answer 2.", "Three?", "Answer 3."])
        assert chat.screen.marked.said == "Two?"
        await chat.until(lambda: kept() == shown(chat))
        await chat.pilot.press("right_square_bracket")
        await chat.until(lambda: shown(chat)[2:] == ["Two? b", "Answer 4."])
        await chat.pilot.press("right_square_bracket")
        await chat.until(lambda: chat.toasts == ["There is no further one in this direction."])
    async with open_chat("Later.") as chat:
        await chat.go_on()
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1.", "Two? b", "Answer 4."])
        await chat.pilot.press("alt+up", "k", "left_square_bracket")
        await chat.until(lambda: shown(chat)[-1] == "Answer 3.")


async def test_a_key_that_walks_is_no_letter_where_there_is_nothing_to_walk_to(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?")
        await chat.pilot.press("alt+up", "left_square_bracket", "right_square_bracket", "k")
        assert chat.screen.marked.said == "One?"
        assert chat.composer.text == ""


async def test_a_further_answer_stands_beside_the_old_one(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?", "Two?")
        await again(chat, "alt+up", "r")
        assert shown(chat) == ["One?", "Answer 1.", "Two?", "Answer 3."]
        assert sent(chat) == ["One?", "Answer 1.", "Two?"]
        assert chat.composer.has_focus
        await chat.sees("[ 2/2 ]", SiblingLine)
        await chat.until(lambda: kept() == shown(chat))
        await again(chat, "alt+up", "g", "r")
        assert shown(chat) == ["One?", "Answer 4."]
        await chat.pilot.press("alt+up", "left_square_bracket")
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1.", "Two?", "Answer 3."])
        await chat.until(lambda: kept() == shown(chat))
        await chat.pilot.press("escape", *"Go")
        await again(chat, "enter")
        assert sent(chat) == ["One?", "Answer 1.", "Two?", "Answer 3.", "Go"]
        await chat.until(lambda: kept() == shown(chat))


async def test_siblings_are_walked_by_mouse(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?")
        await again(chat, "alt+up", "r")
        await chat.sees("[ 2/2 ]", SiblingLine)
        await chat.click(chat.screen.query_one(SiblingLine))
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1."])
        await chat.pilot.press("alt+up", "k", "e")
        await again(chat, "b", "enter")
        await chat.sees("[ 2/2 ]", QuestionView)
        question = chat.screen.query_one(QuestionView)
        await chat.click(question, (3, question.size.height - 1))
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1."])


async def test_escape_leaves_the_question_as_it_was_and_gives_back_what_was_typed(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?")
        chat.composer.text = "half a thought"
        await chat.pilot.press("alt+up", "e", "x", "escape")
        assert (chat.composer.text, chat.composer.border_subtitle) == ("half a thought", READY)
        assert chat.screen.editing is None
        await chat.pilot.press("ctrl+z")
        assert chat.composer.text == "One?x"


async def test_another_conversation_ends_the_editing(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?")
        chat.composer.text = "half a thought"
        await chat.pilot.press("alt+up", "e", "ctrl+n")
        await chat.until(lambda: not chat.screen.query(AnswerView))
        assert chat.composer.text == "half a thought"
        await again(chat, "enter")
        assert sent(chat) == ["half a thought"]


async def test_while_an_answer_is_written_nothing_is_cut(open_chat):
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?")
        await chat.ask("Two?")
        await chat.pilot.press("alt+up", "e", "r", "left_square_bracket")
        await chat.until(lambda: chat.toasts)
        assert set(chat.toasts) == {"Still answering: Esc stops it first."}
        assert shown(chat) == ["One?", "Answer 1.", "Two?", ""]
        assert chat.screen.editing is None


async def test_the_palette_edits_and_regenerates_the_newest(open_chat):
    async with open_chat(*ANSWERS) as chat:
        commands = {command.title: command.callback for command in chat.app.get_system_commands(chat.screen)}
        commands["Edit the last question"]()
        await chat.until(lambda: chat.toasts == ["There is no question to ask again."])
        await talk(chat, "One?", "Two?")
        await commands["Regenerate the last answer"]()
        await chat.finish()
        assert shown(chat) == ["One?", "Answer 1.", "Two?", "Answer 3."]
        commands["Edit the last question"]()
        await chat.until(lambda: chat.composer.text == "Two?")


async def test_branches_made_while_nothing_can_be_written_are_walked_and_saved_later(open_chat, monkeypatch):
    monkeypatch.setattr("medusa_chat.chats.database._WAIT_SECONDS", 0.01)
    async with open_chat(engine=ScriptedEngine(*ANSWERS)) as chat:
        await chat.screen.shelf.find("")
        other = sqlite3.connect(chats_file(), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await talk(chat, "One?", "Two?")
        await again(chat, "alt+up", "r")
        await chat.pilot.press("alt+up", "g", "e", "b")
        await again(chat, "enter")
        assert shown(chat) == ["One?b", "Answer 4."]
        await chat.pilot.press("alt+up", "k", "left_square_bracket")
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1.", "Two?", "Answer 3."])
        await chat.until(lambda: any("another program" in toast for toast in chat.toasts))
        other.execute("ROLLBACK")
        other.close()
    assert kept() == ["One?", "Answer 1.", "Two?", "Answer 3."]
    db = Database(chats_file())
    assert sorted(each.content for each in messages.tree(db, 1)) == sorted(
        ["One?", "One?b", "Two?", "Answer 1.", "Answer 2.", "Answer 3.", "Answer 4."]
    )
    db.close()


async def test_without_a_usable_file_branches_are_still_walked(open_chat):
    chats_file().write_bytes(b"junk " * 1000)
    async with open_chat(*ANSWERS) as chat:
        await talk(chat, "One?")
        await again(chat, "alt+up", "r")
        await chat.pilot.press("alt+up", "left_square_bracket")
        await chat.until(lambda: shown(chat) == ["One?", "Answer 1."])
