"""What is typed is never lost: history, drafts, a queue, large pastes, the person's own editor."""

from __future__ import annotations

import json
from contextlib import nullcontext

import pytest
from doubles.scripted_engine import ScriptedEngine
from textual import events

from medusa_chat.host.messages import Cancel, Failed, Generate
from medusa_chat.settings.paths import draft_file, prompts_file
from medusa_chat.tui.chat.composer import BUSY, HELD, QUEUED, READY, Composer
from medusa_chat.tui.chat.queued import QueuedPrompts
from medusa_chat.tui.past_prompts import MOST, PastPrompts, append_prompt, read_prompts


def asked(chat) -> list[str]:
    return [request.messages[-1].content for request in chat.engine.sent(Generate)]


def test_walking_back_keeps_what_was_typed_and_what_was_changed_on_the_way():
    past = PastPrompts(["one", "two", "one", "three"])
    assert past.prompts == ["two", "one", "three"]
    assert past.forward("typing") is None
    assert past.back("typing") == "three"
    assert past.back("three, changed") == "one"
    assert past.back("one") == "two"
    assert past.back("two") is None
    assert past.forward("two") == "one"
    assert past.forward("one") == "three, changed"
    assert past.forward("three, changed") == "typing"
    assert past.forward("typing") is None
    past.add("four")
    assert past.back("") == "four"


def test_the_file_outlives_bad_lines_and_does_not_grow_without_end(tmp_path):
    path = tmp_path / "prompts.jsonl"
    assert read_prompts(path) == []
    path.write_bytes(b'{"prompt": "a"}\nnonsense\n[1]\n{"prompt": 3}\n\xff\xfe\n{"prompt": "line\\nbreak"}\n{"prom')
    assert read_prompts(path) == ["a", "line\nbreak"]
    path.write_bytes(b"")
    past = PastPrompts()
    for number in range(2 * MOST + 1):
        past.add(f"prompt {number}")
        if number % 500 == 0 or number > 2 * MOST - 2:
            append_prompt(path, f"prompt {number}", past.prompts)
    path.write_bytes(b"".join(json.dumps({"prompt": str(n)}).encode() + b"\n" for n in range(2 * MOST)))
    append_prompt(path, "東京 \ud800", [*past.prompts[1:], "東京 \ud800"])
    assert read_prompts(path) == [*past.prompts[1:], "東京 \ud800"]
    assert len(read_prompts(path)) == MOST


async def test_up_and_down_walk_through_what_was_asked_even_in_the_next_run(open_chat):
    async with open_chat("Yes.") as chat:
        for question in ("First?", "Second\nof two lines?"):
            await chat.ask(question)
            await chat.finish()
    assert [json.loads(line)["prompt"] for line in prompts_file().read_text().splitlines()] == [
        "First?", "Second\nof two lines?",
    ]  # fmt: skip
    async with open_chat("Yes.") as chat:
        await chat.until(lambda: chat.composer._drafts.past.prompts)
        chat.composer.text = "half a thought"
        await chat.pilot.press("up")
        assert chat.composer.text == "Second\nof two lines?"
        await chat.pilot.press("up")
        assert chat.composer.cursor_location[0] == 0
        await chat.pilot.press("up")
        assert chat.composer.text == "First?"
        await chat.pilot.press("up")
        assert chat.composer.text == "First?"
        await chat.pilot.press("down", "down", "down")
        assert chat.composer.text == "half a thought"


async def test_what_was_not_sent_comes_back_in_the_next_run(open_chat):
    async with open_chat() as chat:
        chat.composer.text = "half a 東京\nthought"
    assert draft_file().read_text(encoding="utf-8") == "half a 東京\nthought"
    async with open_chat() as chat:
        await chat.until(lambda: chat.composer.text == "half a 東京\nthought")
        await chat.pilot.press("enter")
        await chat.until(lambda: asked(chat) == ["half a 東京\nthought"])
    async with open_chat() as chat:
        await chat.until(lambda: chat.composer._drafts.past.prompts)
        assert chat.composer.text == ""


async def test_a_draft_is_on_the_disk_before_a_crash(open_chat):
    async with open_chat() as chat:
        chat.composer.text = "typed"
        chat.composer._keep()
        await chat.until(lambda: draft_file().exists() and draft_file().read_text() == "typed")


async def test_a_memory_that_cannot_be_written_is_told_once(open_chat):
    prompts_file().mkdir()
    draft_file().mkdir()
    async with open_chat("Yes.") as chat:
        await chat.ask("One?")
        await chat.finish()
        await chat.ask("Two?")
        await chat.until(lambda: chat.composer._keep() or chat.toasts)
        assert [toast for toast in chat.toasts if "not remembered" in toast] == chat.toasts
        assert len(chat.toasts) == 1


async def test_enter_while_answering_queues_and_the_queue_is_asked_in_order(open_chat):
    async with open_chat("One.", "Two.", "Three.") as chat:
        await chat.ask("First?")
        for prompt in ("Second [b]?", "Third\nquestion?"):
            chat.composer.text = prompt
            await chat.pilot.press("enter")
        await chat.sees("queued: 2 · Second [b]?", QueuedPrompts)
        await chat.sees("Third question?", QueuedPrompts)
        assert chat.composer.text == ""
        chat.engine.play()
        await chat.until(lambda: len(asked(chat)) == 2)
        chat.engine.play()
        await chat.until(lambda: len(asked(chat)) == 3)
        assert asked(chat) == ["First?", "Second [b]?", "Third\nquestion?"]
        assert not chat.screen.query_one(QueuedPrompts).display


async def test_escape_takes_back_what_waits_before_it_stops_the_answer(open_chat):
    async with open_chat("One.") as chat:
        await chat.ask("First?")
        for prompt in ("Second?", "Third?"):
            chat.composer.text = prompt
            await chat.pilot.press("enter")
        chat.composer.text = "typing"
        assert chat.composer.border_subtitle == QUEUED
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.composer.text == "Third?\ntyping")
        assert chat.composer.border_subtitle == QUEUED
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.composer.text == "Second?\nThird?\ntyping")
        assert chat.composer.border_subtitle == BUSY
        assert not chat.engine.sent(Cancel)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.engine.sent(Cancel))
        assert chat.composer.text == "Second?\nThird?\ntyping"


async def test_a_queue_waits_behind_a_failure_and_is_not_lost_by_another_conversation(open_chat):
    async with open_chat("One.") as chat:
        await chat.ask("First?")
        chat.composer.text = "Second?"
        await chat.pilot.press("enter")
        chat.engine.emit(Failed("died", "It ended.", answer=chat.answer.turn.answer))
        await chat.until(lambda: chat.composer.text == "First?")
        assert chat.screen.query_one(QueuedPrompts).prompts == ["Second?"]
        assert chat.composer.border_subtitle == HELD
        await chat.pilot.press("ctrl+n")
        await chat.until(lambda: chat.composer.text == "Second?\nFirst?")
        assert chat.composer.border_subtitle == READY


async def test_a_hundred_kilobytes_are_pasted_whole_and_sent_whole(open_chat):
    text = "".join(f"line {number} of a log with 東京 in it\n" for number in range(3000)) + "x" * 20_000
    assert len(text.encode()) > 100_000
    async with open_chat("Long.") as chat:
        chat.app.post_message(events.Paste(text))
        await chat.until(lambda: chat.composer.text == text)
        await chat.pilot.press("y", "enter")
        await chat.until(lambda: asked(chat))
        assert asked(chat) == [text + "y"]


async def test_undoing_a_paste_that_had_a_scroll_bar_and_doing_it_again(open_chat):
    text = "\n".join(f"line {number}" for number in range(30))
    async with open_chat() as chat:
        chat.composer.text = "before"
        chat.composer.move_cursor(chat.composer.document.end)
        chat.app.post_message(events.Paste(text))
        await chat.until(lambda: chat.composer.show_vertical_scrollbar)
        for key, there in (("ctrl+z", "before"), ("ctrl+y", f"before{text}"), ("ctrl+z", "before")):
            await chat.pilot.press(key)
            await chat.until(lambda there=there: chat.composer.text == there)
        await chat.pilot.press("x")
        assert chat.composer.text == "beforex"


async def test_all_that_is_written_is_cleared_at_once_and_comes_back(open_chat):
    text = "".join(f"line {number} of a log with 東京 in it\n" for number in range(3000))
    async with open_chat() as chat:
        await chat.pilot.press("u", "p")
        chat.app.post_message(events.Paste(text))
        await chat.until(lambda: chat.composer.text == f"up{text}")
        # As terminals send it, with the letter as its character.
        chat.app.post_message(events.Key("alt+u", "u"))
        await chat.until(lambda: chat.composer.text == "")
        assert "Clear what is written" not in [each.title for each in chat.app.get_system_commands(chat.screen)]
        await chat.pilot.press("alt+u", "ctrl+z")
        await chat.until(lambda: chat.composer.text == f"up{text}")
        await chat.find("clear what", "Clear what is written")
        await chat.until(lambda: chat.composer.text == "")
        await chat.pilot.press("n", "ctrl+z", "ctrl+z")
        await chat.until(lambda: chat.composer.text == f"up{text}")


def editor(tmp_path, monkeypatch, script: str) -> None:
    path = tmp_path / "my editor.sh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("VISUAL", f"'{path}' -w")


async def test_the_person_s_own_editor(open_chat, tmp_path, monkeypatch):
    editor(tmp_path, monkeypatch, 'printf " and more\\n" >> "$2"')
    async with open_chat() as chat:
        monkeypatch.setattr(chat.app, "suspend", nullcontext)
        chat.composer.text = "Some text"
        await chat.pilot.press("alt+e")
        await chat.until(lambda: chat.composer.text == "Some text and more")
        await chat.pilot.press("ctrl+z")
        assert chat.composer.text == "Some text"


@pytest.mark.parametrize(
    ("script", "words"),
    [('printf "" > "$2"', "gave nothing back"), ("exit 3", "code 3"), ('printf "\\377" > "$2"', "nothing readable")],
)
async def test_an_editor_that_fails_leaves_the_text_as_it_was(open_chat, tmp_path, monkeypatch, script, words):
    editor(tmp_path, monkeypatch, script)
    async with open_chat() as chat:
        monkeypatch.setattr(chat.app, "suspend", nullcontext)
        chat.composer.text = "Some text"
        await chat.pilot.press("alt+e")
        await chat.until(lambda: any(words in toast and "stays as it was" in toast for toast in chat.toasts))
        assert chat.composer.text == "Some text"


@pytest.mark.parametrize(("command", "words"), [("/no/such/editor", "is not here"), ("'", "is no command")])
async def test_an_editor_that_is_not_there(open_chat, monkeypatch, command, words):
    monkeypatch.setenv("VISUAL", command)
    async with open_chat(engine=ScriptedEngine("x")) as chat:
        await chat.pilot.press("alt+e")
        await chat.until(lambda: any("cannot be lent" in toast for toast in chat.toasts))
        monkeypatch.setattr(chat.app, "suspend", nullcontext)
        await chat.pilot.press("alt+e")
        await chat.until(lambda: any(words in toast for toast in chat.toasts))


async def test_the_editor_s_key_as_terminals_send_it_is_no_letter(open_chat, monkeypatch):
    """An Alt key arrives with the letter as its character, which the text area would take."""
    opened = []
    monkeypatch.setattr(Composer, "action_edit_outside", lambda composer: opened.append(composer.text))
    async with open_chat() as chat:
        chat.composer.text = "Why"
        chat.app.post_message(events.Key("alt+e", "e"))
        await chat.until(lambda: opened == ["Why"])
        assert chat.composer.text == "Why"
