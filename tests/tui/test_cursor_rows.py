"""Under a list's cursor everything stays readable, whatever colours there are."""

from __future__ import annotations

from textual.widgets import OptionList

from medusa_chat.tui.chat.conversations import ConversationsScreen


async def test_marks_in_the_terminals_own_colours_do_not_vanish_under_the_cursor(open_chat):
    async with open_chat("One.", theme="ansi-16") as chat:
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("ctrl+o")
        await chat.until(lambda: isinstance(chat.app.screen, ConversationsScreen))
        await chat.until(lambda: chat.app.screen.query_one(OptionList).option_count)
        await chat.pilot.press("tab")
        listed = chat.app.screen.query_one(OptionList)
        await chat.until(lambda: listed.has_focus and listed.size.height)
        row = [segment for segment in listed.render_line(listed.highlighted or 0) if segment.text.strip()]
        assert row
        assert all(segment.style.underline and segment.style.bgcolor.is_default for segment in row)
