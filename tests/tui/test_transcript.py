"""Long conversations, code to copy, foreign scripts, and a view that stays where it was put."""

from __future__ import annotations

import pytest
from doubles.scripted_engine import ScriptedEngine
from doubles.step_records import steps_of
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.events import MouseScrollUp

from medusa_chat.chats import conversations, messages
from medusa_chat.chats.database import Database
from medusa_chat.settings.paths import chats_file
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.earlier import MORE, MOUNTED, EarlierLine
from medusa_chat.tui.chat.live_text import LiveText
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.chat.token_view import TokenText, TokenView
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.flat import flat
from medusa_chat.tui.markup import code_blocks
from medusa_chat.tui.settling import MOST_CHARACTERS, MOST_FENCE_LINES, settled

CODE = "First:\n\n```python\ndef f():\n    return '[/x]'\n```\n\nthen\n\n```[/y]\necho 東京\n```\n\n    indented\n"
SCRIPTS = "Emoji 👩‍👩‍👧‍👦 👍🏽 🇫🇷, 東京と北京, שלום עליכם, مرحبا, e\u0301 n\u0303 a\u030a."


def stored(turns: int) -> None:
    """A conversation of that many turns, as an earlier run left it."""
    db = Database(chats_file())
    with db.transaction():
        conversation, leaf = conversations.create(db), None
        for number in range(turns):
            leaf = messages.add(db, conversation, leaf, "user", f"Question {number}?")
            leaf = messages.add(db, conversation, leaf, "assistant", f"Answer **{number}**.")
    db.close()


async def open_stored(chat) -> Transcript:
    await chat.go_on()
    transcript = chat.screen.query_one(Transcript)
    await chat.until(lambda: transcript.max_scroll_y and transcript.following)
    return transcript


async def test_of_a_long_conversation_the_end_is_mounted_and_the_rest_comes_when_asked_for(open_chat):
    count = MOUNTED + 3 * MORE - 1
    stored(count)
    async with open_chat("More.", size=(80, 24)) as chat:
        transcript = await open_stored(chat)
        assert len(chat.screen.query(AnswerView)) == MOUNTED
        transcript.scroll_home(animate=False)
        await chat.until(lambda: transcript.scroll_y == 0)
        await chat.sees(f"… {count - MOUNTED} earlier turns · click or alt+PgUp", EarlierLine)
        first = transcript.messages[0]
        above = first.region.y
        await chat.pilot.press("pageup")
        await chat.until(lambda: len(chat.screen.query(AnswerView)) == MOUNTED + MORE)
        await chat.until(lambda: first.region.y == above)
        await chat.pilot.press("alt+pageup")
        await chat.until(lambda: len(chat.screen.query(AnswerView)) == MOUNTED + 2 * MORE)
        await chat.until(lambda: first.region.y == above)
        transcript.scroll_home(animate=False)
        await chat.until(lambda: transcript.scroll_y == 0)
        await chat.sees(f"… {MORE - 1} earlier turns", EarlierLine)
        await chat.click(chat.screen.query_one(EarlierLine))
        await chat.until(lambda: not chat.screen.query_one(EarlierLine).display)
        assert [view.turn.question for view in chat.screen.query(AnswerView)] == [
            f"Question {n}?" for n in range(count)
        ]
        await chat.pilot.press("alt+pageup")
        await chat.until(lambda: any("begins here" in toast for toast in chat.toasts))
        await chat.pilot.press("ctrl+end")
        await chat.until(lambda: transcript.following)
        await chat.ask("One more?")
        await chat.until(lambda: len(chat.screen.query(AnswerView)) == MOUNTED)
        assert len(chat.engine.requests[-1].messages) == 2 * count + 1


async def test_the_wheel_brings_earlier_turns_once_it_is_at_the_top(open_chat):
    stored(MOUNTED + MORE)
    async with open_chat("More.", size=(80, 24)) as chat:
        transcript = await open_stored(chat)
        event = MouseScrollUp(transcript, 5, 5, 0, -1, 0, False, False, False)
        while transcript.scroll_y > 0:
            assert len(chat.screen.query(AnswerView)) == MOUNTED
            transcript.post_message(event)
            await chat.pilot.pause()
        first = transcript.messages[0]
        above = first.region.y
        transcript.post_message(event)
        await chat.until(lambda: len(chat.screen.query(AnswerView)) == MOUNTED + MORE)
        await chat.until(lambda: first.region.y == above)


async def test_another_conversation_may_be_opened_while_old_turns_are_put_away(open_chat):
    stored(MOUNTED + 4)
    async with open_chat("More.", size=(80, 24)) as chat:
        transcript = await open_stored(chat)
        await chat.screen.grow(chat.screen.dialogue.ask("One more?"))
        await chat.screen.action_new()
        await chat.until(lambda: not transcript.messages)
        await chat.ask("And again?")
        await chat.finish()
        assert [view.turn.question for view in chat.screen.query(AnswerView)] == ["And again?"]


async def test_walking_up_beyond_the_first_message_brings_earlier_ones_by_tokens_too(open_chat):
    stored(MOUNTED + 3)
    async with open_chat("More.", size=(80, 24)) as chat:
        transcript = await open_stored(chat)
        await chat.pilot.press("alt+up", "g", "k")
        await chat.until(lambda: transcript.marked is not None and transcript.marked.said == "Answer **2**.")
        assert not chat.screen.query(TokenView)
    async with open_chat("More.", size=(80, 24)) as chat:
        await chat.pilot.press("f10")
        transcript = await open_stored(chat)
        await transcript.show_earlier()
        await chat.until(lambda: len(chat.screen.query(TokenView)) == MOUNTED + 3)


async def test_an_answer_that_ends_does_not_move_a_view_that_was_scrolled_up(open_chat):
    text = "\n\n".join(f"Paragraph {number} fills a line or two of the screen." for number in range(40))
    async with open_chat(text, size=(80, 24)) as chat:
        await chat.ask()
        transcript, status = chat.screen.query_one(Transcript), chat.screen.query_one(StatusLine)
        chat.engine.play(60)
        await chat.until(lambda: transcript.max_scroll_y > 8 and transcript.following)
        await chat.pilot.press("pageup")
        await chat.until(lambda: not transcript.following)
        held = transcript.scroll_y
        await chat.finish()
        await chat.until(lambda: transcript.new_lines > 10)
        await chat.sees(f"↓ {transcript.new_lines} new lines · ctrl+end", StatusLine)
        assert transcript.scroll_y == held
        await chat.pilot.press("ctrl+end")
        await chat.until(lambda: "new lines" not in chat.shown(status))


def test_code_blocks_are_found_with_their_languages():
    assert [(block.code, block.language, block.lines) for block in code_blocks(CODE)] == [
        ("def f():\n    return '[/x]'", "python", 2),
        ("echo 東京", "[/y]", 1),
        ("indented", "", 1),
    ]
    assert code_blocks("```js\nopen();")[0].code == "open();"


async def test_y_copies_one_code_block_after_the_other(open_chat):
    async with open_chat(CODE) as chat:
        await chat.ask("No `code` here")
        await chat.finish()
        await chat.pilot.press("alt+up", "y")
        assert chat.app.clipboard == "def f():\n    return '[/x]'"
        assert chat.toasts[-1] == "Code block 1 of 3, 2 lines, python: sent to the terminal's clipboard."
        await chat.pilot.press("y")
        assert chat.app.clipboard == "echo 東京"
        assert chat.toasts[-1] == "Code block 2 of 3, 1 line, [/y]: sent to the terminal's clipboard."
        await chat.pilot.press("y", "y")
        assert chat.app.clipboard == "def f():\n    return '[/x]'"
        await chat.pilot.press("k", "y")
        assert chat.toasts[-1].startswith("There is no code block in this message")


def test_flat_code_keeps_language_and_indentation():
    lines = flat(CODE).plain.split("\n")
    assert "▎ python" in lines
    assert "▎     return '[/x]'" in lines
    assert "▎ [/y]" in lines
    assert "▎ echo 東京" in lines


def test_flat_tables_keep_their_columns():
    assert flat("| city | people |\n|---|---|\n| 東京 | **14** |\n| Lyon | |").plain.split("\n")[:4] == [
        "city  people",
        "────  ──────",
        "東京  14    ",
        "Lyon        ",
    ]


BLOCKS = st.sampled_from(
    ["A paragraph.", "# Title", "- one\n- two", "1. one\n\n2. two", "> quote", "| a | b |\n|---|---|\n| 1 | 2 |", "***"]
) | st.builds(lambda n, lang: f"```{lang}\n" + "\n".join(f"line {i}" for i in range(n)) + "\n```", st.integers(0, 150), st.sampled_from(["", "py"]))  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.lists(BLOCKS, min_size=1, max_size=60), st.integers(1, 400), st.randoms(use_true_random=False))
def test_settling_loses_nothing_and_keeps_what_may_change_short(blocks, most, random):
    text, tail, done = "\n\n".join(blocks), "", ""
    place = 0
    while place < len(text):
        fresh = text[place : place + random.randint(1, most)]
        place += len(fresh)
        cut = settled(tail + fresh)
        tail, done = (tail + fresh, done) if cut is None else (cut.rest, f"{done}\n\n{cut.done}")
        assert len(tail) <= MOST_CHARACTERS + most + 20 * MOST_FENCE_LINES
    words = [word for word in flat(f"{done}\n\n{tail}").plain.replace("▎ py", " ").replace("▎", " ").split() if word]
    expected = [word for word in flat(text).plain.replace("▎ py", " ").replace("▎", " ").split() if word]
    assert words == expected


def test_a_long_fence_that_is_closed_is_not_opened_again():
    fence = "```py\n" + "\n".join(f"line {i}" for i in range(100)) + "\n```"
    for behind in ("", "\n", "\n\n", "\n  \n"):
        assert settled(f"Before.\n\n{fence}{behind}") is None


async def test_a_long_answer_streams_whole_and_stays_cheap(open_chat):
    fence = "```python\n" + "\n".join(f"value_{number} = {number}" for number in range(200)) + "\n```"
    text = "\n\n".join(
        ["Intro.", *(f"Paragraph {n} with some more words in it." for n in range(120)), fence, "The end."]
    )
    async with open_chat(text) as chat:
        await chat.ask()
        steps = len(steps_of(text))
        for played in range(150, steps, 150):
            chat.engine.play(150)
            await chat.until(lambda played=played: chat.answer.turn.tally.steps == played and chat.screen.settled)
        await chat.finish()
        assert len(chat.answer.query_one(LiveText).tail) < MOST_CHARACTERS + 3000
        await chat.sees("The end.", ".frozen")
        shown = "\n".join(chat.shown(part) for part in chat.answer.query(".frozen"))
        for words in (
            "Intro.",
            "Paragraph 0 ",
            "Paragraph 60 ",
            "Paragraph 119 ",
            "value_0 ",
            "value_199 ",
            "The end.",
        ):
            assert words in shown


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
async def test_every_script_is_as_wide_as_the_terminal_thinks(open_chat, size):
    text = f"{SCRIPTS}\n\n- {SCRIPTS}\n\n```\n{SCRIPTS}\n```"
    async with open_chat(text, size=size, engine=ScriptedEngine(text, text)) as chat:
        await chat.ask(SCRIPTS)
        await chat.finish()
        for key in ("f10", "f10"):
            for strip in chat.screen._compositor.render_strips():
                assert strip.cell_length == size[0] == cell_len(strip.text)
            by_tokens = not chat.screen.query(TokenView)
            await chat.pilot.press(key)
            await chat.until(lambda by_tokens=by_tokens: bool(chat.screen.query(TokenView)) == by_tokens)
            if by_tokens:
                await chat.until(lambda: chat.screen.query_one(TokenText).size.height)
        question = chat.shown(chat.screen.query(".question").first())
        assert "👩‍👩‍👧‍👦" in question
        assert "שלום" in question
