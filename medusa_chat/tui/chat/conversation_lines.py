"""The lines of a list of conversations, and the keys that act on the one under the cursor."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList

_NEAR = 20
"""Lines above the end of the list where the next page is fetched."""


class Conversations(OptionList):
    """The lines. Letters act on the one under the cursor, and the list around knows how."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Next", id="conversations.down", show=False, tooltip="The next conversation"),
        Binding("k", "cursor_up", "Back", id="conversations.up", show=False, tooltip="The conversation before"),
        Binding("g", "first", "First", id="conversations.first", show=False, tooltip="The newest conversation"),
        Binding("G", "last", "Last", id="conversations.end", show=False, tooltip="The last one that was fetched"),
        Binding("slash", "act('search')", "Search", id="conversations.search", key_display="/", tooltip="To the search"),
        Binding("R", "act('rename')", "Rename", id="conversations.rename", tooltip="Give it another title"),
        Binding("d", "act('delete')", "Delete", id="conversations.drop", tooltip="Delete it; ctrl+z brings it back"),
        Binding("a", "act('archive')", "Archive", id="conversations.archive", tooltip="Put it away, or take it back"),
        Binding("p", "act('private')", "Private", id="conversations.private", tooltip="Heads never learn from it, or again may"),
        Binding("A", "act('archived')", "Archived", id="conversations.archived", tooltip="Show what was put away, or the others"),
        Binding("x", "act('export(\"md\")')", "Export", id="conversations.export", tooltip="Save it as Markdown, to read"),
        Binding("X", "act('export(\"json\")')", "Export JSON", id="conversations.export-json", show=False,
                tooltip="Save it with all its branches, settings and steps; it can be imported again"),
    ]  # fmt: skip

    class NearEnd(Message):
        """More may be wanted."""

    async def action_act(self, action: str) -> None:
        await self.app.run_action(action, self.parent)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value and new_value >= self.max_scroll_y - _NEAR:
            self.post_message(self.NearEnd())
