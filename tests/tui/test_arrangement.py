"""What stands beside the conversation, in every width there is."""

from __future__ import annotations

from itertools import product

import pytest
from textual.widgets import Input

from medusa_chat.tui.chat.arrangement import COMFORT, LEAST, PARTS, Wishes, arranged, is_over
from medusa_chat.tui.chat.sidebar import Sidebar
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.panel.panel import MedusaPanel

WIDTHS = range(40, 241)
EVERY_WISH = [Wishes(*three, visited) for *three, visited in product((None, True, False), (None, True, False), (None, True, False), (None, *PARTS))]  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_the_conversation_always_has_room_or_is_left_for_one_thing_that_was_opened(width):
    for wishes in EVERY_WISH:
        there = arranged(width, wishes)
        assert not any(wishes.of(part) is False for part in there.shown)
        if there.alone:
            assert there.shown == (wishes.visited,)
        elif len(there.shown) > 1 or any(wishes.of(part) is None for part in there.shown):
            assert there.room(width) >= COMFORT
        else:
            assert there.room(width) >= LEAST


@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_opened_is_shown_and_closing_it_brings_back_what_was_there(width):
    for wishes, part in product(EVERY_WISH, PARTS):
        opened = wishes.opened(part, width)
        assert part in arranged(width, opened).shown
        assert part not in arranged(width, opened.closed(part)).shown
    before = Wishes()
    for part in ("sidebar", "settings"):
        if is_over(part, width, before.opened(part, width)):
            assert arranged(width, before.opened(part, width).left(part)) == arranged(width, before)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_opens_by_itself_that_was_not_there_in_a_narrower_window(width):
    """But for the fixed columns from which a thing begins to be shown."""
    now, narrower = arranged(width, Wishes()), arranged(width - 1, Wishes())
    assert set(narrower.shown) <= set(now.shown)
    assert "settings" not in now.shown


@pytest.mark.parametrize(
    ("width", "wishes", "shown"),
    [
        (80, Wishes(), ""),
        (80, Wishes(settings=True), "settings"),
        (120, Wishes(), "medusa"),
        (120, Wishes(sidebar=True), "sidebar"),
        (120, Wishes(settings=True), "settings"),
        (160, Wishes(), "sidebar medusa"),
        (160, Wishes(settings=True), "sidebar settings"),
        (200, Wishes(settings=True), "sidebar settings medusa"),
        (60, Wishes(settings=True, medusa=True), ""),
    ],
)
def test_common_widths(width, wishes, shown):
    assert " ".join(arranged(width, wishes).shown) == shown


async def test_conversations_are_visited_where_the_panel_was_and_make_room_again(open_chat):
    async with open_chat("x", size=(120, 40)) as chat:
        sidebar, panel = chat.screen.query_one(Sidebar), chat.screen.query_one(MedusaPanel)
        await chat.pilot.press("ctrl+b")
        await chat.until(lambda: sidebar.display and not panel.display)
        await chat.until(lambda: chat.screen.query_one(Transcript).size.width >= COMFORT)
        await chat.pilot.press("escape")
        await chat.until(lambda: panel.display and not sidebar.display)
        assert chat.composer.has_focus
        await chat.pilot.press("ctrl+b")
        await chat.until(lambda: sidebar.display)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: panel.display and not sidebar.display)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: not panel.display)
        assert not sidebar.display


async def test_where_there_is_room_escape_only_leaves_them(open_chat):
    async with open_chat("x", size=(200, 50)) as chat:
        await chat.pilot.press("ctrl+b", "escape")
        await chat.until(lambda: chat.composer.has_focus)
        assert chat.screen.query_one(Sidebar).display


async def test_escape_in_the_search_leads_to_the_list_s_place_too(open_chat):
    async with open_chat("x", size=(80, 24)) as chat:
        await chat.pilot.press("ctrl+b", "slash", *"words")
        assert chat.screen.query_one(Sidebar).query_one("#words", Input).value == "words"
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.query_one(Sidebar).display)
        assert chat.composer.has_focus


async def test_escape_brings_back_the_conversation_before_it_stops_the_answer(open_chat):
    async with open_chat("x" * 50, size=(60, 24)) as chat:
        await chat.ask()
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: chat.screen.query_one(MedusaPanel).size.width > 50)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.composer.has_focus and chat.screen.query_one(Transcript).size.width > 50)
        assert chat.screen.dialogue.busy
