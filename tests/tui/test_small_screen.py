"""On the smallest screen words are left out, but none is cut."""

from __future__ import annotations

import pytest
from textual.screen import ModalScreen

from medusa_chat.tui.settings.setting_list import SettingList


@pytest.mark.parametrize(
    ("key", "at_40", "at_120"),
    [
        (
            "alt+s",
            " enter keeps · esc cancels ",
            " enter keeps it for the answers to come · ctrl+j new line · esc cancels ",
        ),
        ("ctrl+o", " enter opens · esc closes ", " enter opens · ctrl+d deletes · tab: more · esc closes "),
        ("ctrl+l", " enter keeps · esc goes back ", " enter keeps · esc goes back "),
    ],
)
async def test_the_words_on_a_frame_fit_it(open_chat, key, at_40, at_120):
    async with open_chat(size=(40, 12)) as chat:
        await chat.pilot.press(key)
        await chat.until(lambda: isinstance(chat.app.screen, ModalScreen))
        await chat.until(lambda: at_40 in whole(chat))
        await chat.pilot.resize_terminal(120, 40)
        await chat.until(lambda: at_120 in whole(chat))


async def test_a_theme_takes_one_row(open_chat):
    async with open_chat(size=(40, 12)) as chat:
        await chat.pilot.press("ctrl+l")
        await chat.until(lambda: "medusa-dark" in whole(chat))
        rows = [row for row in whole(chat).split("\n") if "■" in row]
        assert all("-" in row or "ember" in row or "fjord" in row or "paper" in row for row in rows)


async def test_what_the_keys_do_meanwhile_fits_the_composer_s_frame(open_chat):
    async with open_chat("One.", size=(40, 12)) as chat:
        await chat.ask("First?")
        await chat.until(lambda: " enter queues · esc stops " in whole(chat))
        await chat.pilot.resize_terminal(80, 24)
        await chat.until(lambda: " answering · enter queues · esc stops " in whole(chat))


async def test_the_setting_under_the_cursor_stays_in_view(open_chat):
    async with open_chat(size=(120, 40)) as chat:
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: isinstance(chat.app.focused, SettingList))
        await chat.pilot.press("G", *["up"] * 4)
        await chat.until(lambda: "max tokens" in whole(chat))
        await chat.pilot.resize_terminal(40, 12)
        await chat.until(lambda: chat.app.focused.row.label in whole(chat))


async def test_what_is_typed_while_a_panel_takes_the_whole_width_is_seen(open_chat):
    async with open_chat(size=(40, 12)) as chat:
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: "Ask something" not in whole(chat))
        await chat.pilot.press("W", "h", "y")
        await chat.until(lambda: "Why" in whole(chat))
        assert chat.composer.text == "Why"


async def test_the_list_of_conversations_shows_several(open_chat):
    async with open_chat(*"12345", size=(40, 12)) as chat:
        for number in range(5):
            await chat.ask(f"Question {number}")
            await chat.finish()
            await chat.pilot.press("ctrl+n")
        await chat.pilot.press("ctrl+o")
        await chat.until(lambda: all(f"Question {number}" in whole(chat) for number in range(5)))


def whole(chat) -> str:
    return "\n".join(strip.text for strip in chat.app.screen._compositor.render_strips())
