"""The cursor on messages: there and back, moving, copying."""

from __future__ import annotations

from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.message_view import QuestionView
from medusa_chat.tui.chat.transcript import Transcript

LONG = "\n\n".join(f"Paragraph {number} of an answer that fills the screen and more." for number in range(30))


async def talk(chat, *questions: str) -> Transcript:
    for question in questions:
        await chat.ask(question)
        await chat.finish()
    return chat.screen.query_one(Transcript)


def place(transcript: Transcript) -> int | None:
    return None if transcript.marked is None else transcript.messages.index(transcript.marked)


def rows(chat) -> list[str]:
    return [strip.text for strip in chat.screen._compositor.render_strips()]


async def test_the_cursor_walks_with_arrows_and_letters_and_escape_leads_back(open_chat):
    async with open_chat("One.", "Two.", "Three.") as chat:
        transcript = await talk(chat, "First?", "Second?", "Third?")
        chat.composer.text = "half a thought"
        await chat.pilot.press("alt+up")
        assert transcript.has_focus
        assert place(transcript) == 5
        for key, expected in (("up", 4), ("k", 3), ("g", 0), ("k", 0), ("j", 1), ("down", 2), ("G", 5), ("down", 5)):
            await chat.pilot.press(key)
            assert place(transcript) == expected, key
        await chat.pilot.press("escape")
        assert chat.composer.has_focus
        assert place(transcript) is None
        assert chat.composer.text == "half a thought"


async def test_tab_leads_to_the_messages_and_on(open_chat):
    async with open_chat("One.", size=(80, 24)) as chat:
        transcript = await talk(chat, "First?")
        await chat.pilot.press("tab")
        assert transcript.has_focus
        await chat.pilot.press("tab")
        assert chat.composer.has_focus


async def test_a_letter_without_a_meaning_there_goes_to_the_composer(open_chat):
    async with open_chat("One.") as chat:
        await talk(chat, "First?")
        await chat.pilot.press("alt+up", *"was")
        await chat.until(lambda: chat.composer.text == "was")
        assert chat.composer.has_focus


async def test_without_a_message_there_is_nowhere_to_go(open_chat):
    async with open_chat("One.", size=(80, 24)) as chat:
        await chat.pilot.press("alt+up", "tab")
        assert chat.composer.has_focus


async def test_escape_leads_back_first_and_stops_then(open_chat):
    async with open_chat(LONG) as chat:
        await chat.ask()
        chat.engine.play(3)
        await chat.pilot.press("alt+up", "escape")
        assert chat.composer.has_focus
        assert chat.screen.dialogue.busy
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.dialogue.busy)


async def test_the_marked_message_is_seen_without_colour(open_chat):
    async with open_chat("One.") as chat:
        transcript = await talk(chat, "First?")
        for key, kind in (("alt+up", AnswerView), ("k", QuestionView)):
            await chat.pilot.press(key)
            await chat.until(lambda: "▶" in rows(chat)[transcript.marked.region.y])
            assert isinstance(transcript.marked, kind)
        await chat.pilot.press("escape")
        await chat.until(lambda: "▶" not in "".join(rows(chat)))


async def test_a_click_marks_a_message(open_chat):
    async with open_chat("One.", "Two.") as chat:
        transcript = await talk(chat, "First?", "Second?")
        await chat.click(list(chat.screen.query(QuestionView))[1])
        assert (place(transcript), transcript.has_focus) == (2, True)
        await chat.click(chat.screen.query(".frozen").first())
        assert place(transcript) == 1


async def test_what_is_marked_is_in_view_and_the_end_is_followed_again(open_chat):
    async with open_chat("One.", LONG, "Three.", size=(80, 24)) as chat:
        transcript = await talk(chat, "First?", "Second?", "Third?")
        await chat.pilot.press("alt+up", "g")
        await chat.until(lambda: transcript.scroll_y < 10)
        await chat.until(lambda: transcript.region.contains_region(transcript.marked.region))
        held = transcript.scroll_y
        await chat.pilot.press("escape")
        await chat.ask("Fourth?")
        await chat.until(lambda: transcript.scroll_y > held)
        await chat.pilot.press("alt+up", "k", "k")
        await chat.finish()
        await chat.pilot.press("G")
        await chat.until(lambda: transcript.following)


async def test_copying_says_what_was_sent_where(open_chat):
    async with open_chat("**One** & [two].", "") as chat:
        await talk(chat, "First?")
        await chat.pilot.press("alt+up", "Y")
        assert chat.app.clipboard == "**One** & [two]."
        assert chat.toasts == ["16 characters were sent to the terminal's clipboard."]
        await chat.pilot.press("k", "Y")
        assert chat.app.clipboard == "First?"


async def test_an_empty_message_is_not_copied(open_chat):
    async with open_chat("One.") as chat:
        await chat.ask("First?")
        await chat.pilot.press("alt+up", "Y")
        assert chat.toasts == ["There is nothing in this message to copy yet."]


async def test_the_palette_offers_its_keys_only_there(open_chat):
    async with open_chat("One.") as chat:
        await talk(chat, "First?")
        assert not any("Copy this message" in command.title for command in chat.app.get_system_commands(chat.screen))
        await chat.pilot.press("alt+up")
        commands = {command.title: command.callback for command in chat.app.get_system_commands(chat.screen)}
        await commands["Copy this message"]()
        await chat.until(lambda: chat.app.clipboard == "One.")


async def test_a_letter_with_alt_is_no_letter(open_chat):
    async with open_chat("Paris.") as chat:
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("alt+up", "alt+x")
        assert chat.composer.text == ""
        await chat.pilot.press("x")
        await chat.until(lambda: chat.composer.text == "x")
