"""The system prompt of a conversation: edited, shown, kept, and read by the model before everything else."""

from __future__ import annotations

from textual.widgets import TextArea

from medusa_chat.chats import conversations
from medusa_chat.chats.database import Database
from medusa_chat.host.messages import ChatMessage, Generate
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.system_prompt import SystemEditor, SystemLine


def kept() -> str | None:
    db = Database(chats_file())
    try:
        found = conversations.newest(db, 9)
        return found[0].system if found else None
    finally:
        db.close()


async def instruct(chat, text: str, key: str = "enter") -> None:
    await chat.pilot.press("alt+s")
    await chat.until(lambda: isinstance(chat.app.screen, SystemEditor))
    chat.app.screen.query_one(TextArea).text = text
    await chat.pilot.press(key)
    await chat.until(lambda: chat.app.screen is chat.screen)


async def test_it_is_read_first_from_the_next_answer_on_and_kept(open_chat):
    async with open_chat("One.", "Two.", "Three.") as chat:
        chat.composer.text = "typed"
        assert not chat.screen.query_one(SystemLine).display
        await instruct(chat, "Be [short].\nBe \x1b[31mkind.")
        await chat.sees("System  Be [short]. Be ␛[31mkind.", SystemLine)
        assert chat.composer.text == "typed"
        await chat.ask("First?")
        assert chat.engine.sent(Generate)[-1].messages == (
            ChatMessage("system", "Be [short].\nBe \x1b[31mkind."),
            ChatMessage("user", "First?"),
        )
        await instruct(chat, "Be long.")
        await chat.finish()
        await chat.until(lambda: kept() == "Be long.")
        await chat.ask("Second?")
        assert chat.engine.sent(Generate)[-1].messages[0] == ChatMessage("system", "Be long.")
        await chat.finish()
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: not chat.screen.query(AnswerView))
        assert not chat.screen.query_one(SystemLine).display
        await chat.ask("Third?")
        assert chat.engine.sent(Generate)[-1].messages == (ChatMessage("user", "Third?"),)


async def test_it_comes_back_with_its_conversation(open_chat):
    async with open_chat("One.") as chat:
        await instruct(chat, "Be short.")
        await chat.ask("First?")
        await chat.finish()
    async with open_chat("Two.") as chat:
        await chat.go_on()
        await chat.sees("System  Be short.", SystemLine)
        await chat.ask("Second?")
        assert chat.engine.sent(Generate)[-1].messages[0] == ChatMessage("system", "Be short.")


async def test_escape_leaves_it_and_blank_words_take_it_away(open_chat):
    async with open_chat("One.") as chat:
        await instruct(chat, "Be short.")
        await instruct(chat, "Be long.", key="escape")
        assert chat.screen.dialogue.talk.system == "Be short."
        await instruct(chat, " \n ")
        assert chat.screen.dialogue.talk.system == ""
        assert not chat.screen.query_one(SystemLine).display


async def test_enter_keeps_and_ctrl_j_makes_lines_and_a_click_opens_it(open_chat):
    async with open_chat("One.") as chat:
        await chat.pilot.press("alt+s", "a", "ctrl+j", "b", "enter")
        await chat.until(lambda: chat.screen.dialogue.talk.system == "a\nb")
        await chat.until(lambda: chat.app.screen is chat.screen)
        await chat.click(chat.screen.query_one(SystemLine))
        await chat.until(lambda: isinstance(chat.app.screen, SystemEditor))
        assert chat.app.screen.query_one(TextArea).text == "a\nb"
