"""Earlier conversations at the left of the chat."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from medusa_chat.tui.chat.conversation_lines import Conversations
from medusa_chat.tui.chat.conversation_list import ConversationList
from medusa_chat.tui.shelf import Shelf


class Sidebar(Vertical):
    """Looks again whenever it is told that something changed, but only while it is seen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "screen.new", "New", id="sidebar.new", show=False, tooltip="Start a new conversation"),
        Binding(
            "escape", "screen.compose", "Back", id="sidebar.back", key_display="esc", tooltip="Back to the composer"
        ),
    ]

    def __init__(self, shelf: Shelf, leave: Callable[[int], Awaitable[None]]) -> None:
        super().__init__()
        self._list = ConversationList(shelf, leave, grouped=True)

    def compose(self) -> ComposeResult:
        yield self._list

    def look_again(self) -> None:
        if self.display:
            self._list.look_again()

    def enter(self) -> None:
        self._list.query_one(Conversations).focus()
