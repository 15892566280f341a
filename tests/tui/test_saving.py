"""What is said is saved as it is said, and can be found, opened and continued."""

from __future__ import annotations

import sqlite3

from doubles.scripted_engine import ScriptedEngine
from doubles.step_records import steps_of
from textual.widgets import Input, OptionList, Static

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.host.messages import ChatMessage, Failed, Generate
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.conversations import ConversationsScreen
from medusa_chat.tui.keeping import trace_step

TEXT = "Paris is the capital of France, and lies on the Seine."


def kept() -> list[list[messages.Message]]:
    """Every conversation's active branch, newest first."""
    if not chats_file().exists():
        return []
    db = Database(chats_file())
    try:
        return [messages.branch(db, each.id) for each in conversations.newest(db, 99)]
    finally:
        db.close()


async def pick(chat, words: str = "") -> OptionList:
    """Open the picker and search."""
    await chat.pilot.press("ctrl+o")
    await chat.until(lambda: isinstance(chat.app.screen, ConversationsScreen))
    found = chat.app.screen.query_one(OptionList)
    await chat.until(lambda: found.option_count)
    chat.app.screen.query_one(Input).value = words
    return found


async def test_a_question_is_saved_at_once_and_the_answer_with_all_that_made_it(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask("Capital?")
        await chat.until(lambda: kept() and len(kept()[0]) == 2)
        assert [(each.content, each.state) for each in kept()[0]] == [("Capital?", "finished"), ("", "unfinished")]
        await chat.finish()
        await chat.until(lambda: kept()[0][-1].state == "finished")
        answer = kept()[0][-1]
        assert answer.content == TEXT
        assert answer.settings["model"] == "tiny"
        assert answer.settings["decoding"]["decoder"] == "joint"
        assert answer.statistics["tokens"] == chat.answer.turn.tally.tokens
        assert answer.statistics["reason"] == "eos"
        db = Database(chats_file())
        trace = messages.steps_of(db, answer.id)
        db.close()
        expected = [trace_step(step) for step in steps_of(TEXT)]
        assert [(step.nodes, step.path, step.kept) for step in trace] == [
            (step.nodes, step.path, step.kept) for step in expected
        ]


async def test_a_change_of_settings_while_it_writes_is_kept(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(2)
        await chat.until(lambda: chat.answer.turn.tally.steps == 2)
        await chat.pilot.press("f4")
        rule = chat.screen.dialogue.choices.decoding.rule
        await chat.finish()
        await chat.until(lambda: kept()[0][-1].state == "finished")
        (change,) = kept()[0][-1].settings["changes"]
        assert (change["step"], change["decoding"]["rule"]) == (3, rule)


async def test_leaving_while_it_writes_keeps_what_was_written(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(3)
        await chat.until(lambda: chat.answer.turn.tally.steps == 3)
    answer = kept()[0][-1]
    assert answer.content == "".join(step.text for step in steps_of(TEXT)[:3])
    assert answer.state == "stopped"


async def test_a_failed_answer_is_kept_as_far_as_it_went(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(3)
        await chat.until(lambda: chat.answer.turn.tally.steps == 3)
        chat.engine.emit(Failed("died", "The engine ended.", answer=chat.answer.turn.answer))
        await chat.until(lambda: kept()[0][-1].state == "failed")
        assert kept()[0][-1].statistics["failure"] == "The engine ended."
        assert kept()[0][-1].content


async def test_a_new_conversation_keeps_the_old_one_and_the_old_one_goes_on(open_chat):
    async with open_chat(TEXT, "Rome.", "Two million.") as chat:
        await chat.ask("Capital of France?")
        await chat.finish()
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.screen.query(AnswerView))
        await chat.ask("Capital of Italy?")
        await chat.finish()
        found = await pick(chat, "seine")
        await chat.until(lambda: found.option_count == 1)
        assert "Capital of France?" in str(found.get_option_at_index(0).prompt)
        assert "Seine" in str(found.get_option_at_index(0).prompt)
        await chat.pilot.press("enter")
        await chat.until(lambda: [view.turn.text for view in chat.screen.query(AnswerView)] == [TEXT])
        await chat.sees("Capital of France?", ".question")
        await chat.sees("Seine", ".frozen")
        await chat.until(lambda: chat.note().endswith("complete"))
        await chat.ask("How many people?")
        assert chat.engine.sent(Generate)[-1].messages == (
            ChatMessage("user", "Capital of France?"),
            ChatMessage("assistant", TEXT),
            ChatMessage("user", "How many people?"),
        )
        await chat.finish()
        await chat.until(lambda: len(kept()[0]) == 4 and kept()[0][-1].state == "finished")
        assert len(kept()) == 2


async def test_earlier_conversations_are_there_at_the_next_start(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask("Capital?")
        await chat.finish()
    async with open_chat("Again.") as chat:
        await pick(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(AnswerView) and chat.answer.turn.text == TEXT)
        assert chat.screen.dialogue.talk.shown.tally.tokens == chat.answer.turn.tally.tokens > 0


async def test_what_a_crash_left_is_marked_and_can_be_continued(open_chat):
    db = Database(chats_file())
    conversation = conversations.create(db)
    question = messages.add(db, conversation, None, "user", "Capital?")
    messages.add(db, conversation, question, "assistant", "Par", "unfinished")
    db.close()
    async with open_chat("Is.") as chat:
        await pick(chat)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query(AnswerView))
        await chat.until(lambda: "not finished" in chat.note())
        await chat.ask("Go on.")
        assert [each.content for each in chat.engine.sent(Generate)[-1].messages] == ["Capital?", "Par", "Go on."]


async def test_deleting_in_the_list_can_be_undone(open_chat):
    async with open_chat("One.", "Two.") as chat:
        await chat.ask("First?")
        await chat.finish()
        await chat.pilot.press("ctrl+n")
        await chat.ask("Second?")
        await chat.finish()
        found = await pick(chat)
        await chat.until(lambda: found.option_count == 2)
        await chat.pilot.press("down", "ctrl+d")
        await chat.until(lambda: found.option_count == 1)
        assert "Second?" in str(found.get_option_at_index(0).prompt)
        await chat.pilot.press("ctrl+z")
        await chat.until(lambda: found.option_count == 2)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.answer.turn.text == "Two."


async def test_foreign_text_in_the_list_is_shown_as_it_is(open_chat):
    async with open_chat("[/x] \x1b[31m answer") as chat:
        await chat.ask("[/oops] [bold]title")
        await chat.finish()
        found = await pick(chat, "answer")
        await chat.until(lambda: "\n" in str(found.get_option_at_index(0).prompt))
        shown = str(found.get_option_at_index(0).prompt)
        assert "[/oops] [bold]title" in shown
        assert "\x1b" not in shown


async def test_words_that_are_nowhere_are_said(open_chat):
    async with open_chat("One.") as chat:
        await chat.ask("First?")
        await chat.finish()
        found = await pick(chat, "zebra")
        await chat.until(lambda: not found.option_count)
        assert "No conversation has these words." in str(chat.app.screen.query_one("#none", Static).render())


async def test_a_damaged_file_is_told_and_the_chat_goes_on(open_chat):
    chats_file().write_bytes(b"junk " * 1000)
    async with open_chat(TEXT) as chat:
        await chat.until(lambda: any("move it aside" in toast for toast in chat.toasts))
        await chat.ask()
        await chat.finish()
        assert chat.answer_source == TEXT
        await chat.pilot.press("ctrl+o")
        await chat.until(lambda: isinstance(chat.app.screen, ConversationsScreen))
        said = chat.app.screen.query_one("#none", Static)
        await chat.until(lambda: "could not be opened" in str(said.render()))
    assert chats_file().read_bytes() == b"junk " * 1000


async def test_a_file_in_use_is_told_and_written_when_it_is_free(open_chat, monkeypatch):
    monkeypatch.setattr("medusa_chat.chats.database._WAIT_SECONDS", 0.05)
    async with open_chat(engine=ScriptedEngine(TEXT)) as chat:
        await chat.screen.shelf.find("")
        other = sqlite3.connect(chats_file(), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        await chat.ask()
        await chat.until(lambda: any("another program" in toast for toast in chat.toasts))
        chat.engine.play()
        other.execute("ROLLBACK")
        other.close()
        await chat.finish()
    assert [message.content for message in kept()[0]][-1] == TEXT
