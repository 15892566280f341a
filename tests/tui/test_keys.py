"""Keys: every one has an id and words, the person's own take their place, and the help shows those in force."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from textual.widgets import Input

from medusa_chat.settings.preferences import preferences_file
from medusa_chat.tui.bound import every_binding
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.help import HelpPage, HelpScreen
from medusa_chat.tui.chat.help_text import page
from medusa_chat.tui.key_names import is_key, spelled


def test_every_binding_has_an_id_and_says_what_it_does():
    bound = every_binding()
    assert len(bound) > 60
    for each in bound:
        assert re.fullmatch(r"[a-z]+(\.[a-z0-9_-]+)+", each.id), f"{each.owner.__name__}: {each.binding}"
        assert each.binding.tooltip, f"{each.owner.__name__}: {each.id} says nothing"
        assert each.binding.description, f"{each.owner.__name__}: {each.id} has no name"
        assert all(is_key(key.strip()) for key in each.binding.key.split(",")), each.binding


def test_an_id_means_one_action():
    counted = Counter((each.id, each.binding.action) for each in every_binding())
    ids = Counter(id for id, _ in counted)
    assert [id for id, count in ids.items() if count > 1] == []


@pytest.mark.parametrize(
    ("key", "there"),
    [
        ("ctrl+k", True), ("f5", True), ("?", True), ("question_mark", True), ("shift+enter", True), ("alt+up", True),
        ("G", True), ("ctrl+shift+a", True), ("escape", True), ("space", True), ("é", True), (",", True),
        ("ctrl+", False), ("crtl+k", False), ("f99", False), ("ctrl+ctrl+k", False), ("", False), ("enter key", False),
        ("\x1b", False), (" ", False),
    ],
)  # fmt: skip
def test_names_of_keys(key, there):
    assert is_key(key) is there


def test_keys_are_spelled_as_on_a_keyboard():
    assert spelled("escape") == "esc"
    assert spelled("question_mark") == "?"
    assert spelled("f10,alt+t,x") == "F10 alt+t"
    assert spelled("left_square_bracket") == "["
    assert spelled("slash") == "/"
    assert spelled("alt+up") == "alt+↑"


def keymap(text: str) -> None:
    preferences_file().write_text(f"[keymap]\n{text}\n")


async def test_an_action_gets_the_person_s_key_and_loses_its_own(open_chat):
    keymap('"chat.panel" = "ctrl+y"')
    async with open_chat() as chat:
        await chat.until(lambda: chat.app.own_keys)
        had = chat.screen.has_class("-panel")
        await chat.pilot.press("ctrl+t")
        assert chat.screen.has_class("-panel") is had
        await chat.pilot.press("ctrl+y")
        await chat.until(lambda: chat.screen.has_class("-panel") is not had)
        assert not chat.toasts


async def test_sending_can_have_another_key_and_enter_is_a_new_line_then(open_chat):
    keymap('"composer.send" = "alt+s"\n"composer.newline" = "ctrl+j"\n"chat.system" = "f24"')
    async with open_chat() as chat:
        await chat.until(lambda: chat.app.own_keys)
        await chat.pilot.press("H", "i", "enter", "m", "ctrl+j", "x")
        await chat.until(lambda: chat.composer.text == "Hi\nm\nx")
        await chat.pilot.press("alt+s")
        await chat.until(lambda: chat.screen.dialogue.turns)


async def test_quitting_always_works_and_its_key_is_no_one_else_s(open_chat):
    keymap('"app.quit" = "ctrl+y"\n"chat.new" = "ctrl+q"')
    async with open_chat() as chat:
        await chat.until(lambda: chat.app.own_keys)
        assert chat.app.own_keys == {"app.quit": "ctrl+y,ctrl+q"}
        await chat.until(lambda: any("line 3: ctrl+q always quits" in toast for toast in chat.toasts))
        await chat.pilot.press("ctrl+q")
        await chat.until(lambda: chat.app._exit)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('"chat.nwe" = "f3"', "line 2: there is no action chat.nwe; did you mean chat.new?"),
        ('"zzz" = "f3"', "line 2: there is no action zzz; F1 lists them all"),
        ('"chat.new" = "crtl+k"', "line 2: there is no key 'crtl+k'"),
        ('"chat.new" = 3', "line 2: chat.new must be a key in quotes"),
        ('"chat.new" = "ctrl+y"\n"chat.panel" = "ctrl+y"', "line 3: ctrl+y is the key of chat.new already"),
        ('"chat.new" = "ctrl+t"', "line 2: ctrl+t is now chat.new; chat.panel has it no more"),
        ('"chat.new" = "[/x]\\u001b"', "line 2: there is no key"),
    ],
)
async def test_what_is_wrong_with_the_keys_is_one_toast_that_names_the_line(open_chat, text, said):
    keymap(text)
    async with open_chat() as chat:
        await chat.until(lambda: any(said in toast for toast in chat.toasts))
        (toast,) = chat.toasts
        assert str(preferences_file()) in toast


async def test_many_problems_are_counted(open_chat):
    keymap("\n".join(f'"no.{number}" = "f3"' for number in range(7)))
    async with open_chat() as chat:
        await chat.until(lambda: any("… and 4 more." in toast for toast in chat.toasts))


async def test_help_shows_the_keys_in_force_and_where_files_lie(open_chat):
    keymap('"chat.new" = "ctrl+y"')
    async with open_chat(size=(80, 24)) as chat:
        await chat.until(lambda: chat.app.own_keys)
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        text = page(chat.app.screen.shown, "", 76).plain
        assert re.search(r"^ctrl\+y +Start a new conversation", text, re.MULTILINE)
        assert "Where things lie" in text
        assert all(len(line) <= 76 for line in text.splitlines())
        titles = [title for title, _ in chat.app.screen.shown]
        assert titles[:3] == ["Everywhere", "Chat", "Question being typed"]
        assert {"Models", "Words"} <= set(titles)
        assert "ctrl+z" in page(chat.app.screen.shown, "undo", 76).plain


async def test_help_of_another_screen_begins_with_its_own_keys(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("f11", "question_mark")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        assert chat.app.screen.shown[0][0] == "Models"


async def test_a_question_mark_is_text_where_text_is_typed(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("question_mark")
        await chat.until(lambda: chat.screen.query_one(Composer).text == "?")
        assert chat.app.screen is chat.screen


async def test_help_is_searched_and_escape_peels_one_layer(open_chat):
    async with open_chat(size=(80, 24)) as chat:
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        screen = chat.app.screen
        await chat.pilot.press("j", "j", "k", "G", "g", "slash", *"theme")
        await chat.until(lambda: screen.query_one(Input).value == "theme")
        await chat.until(lambda: "Choose how it looks" in chat.shown(screen.query_one(HelpPage)))
        assert "Start a new conversation" not in chat.shown(screen.query_one(HelpPage))
        await chat.pilot.press(*"zzz")
        await chat.until(lambda: "Nothing here has these words." in chat.shown(screen.query_one(HelpPage)))
        await chat.pilot.press("escape")
        await chat.until(lambda: "Start a new conversation" in chat.shown(screen.query_one(HelpPage)))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
