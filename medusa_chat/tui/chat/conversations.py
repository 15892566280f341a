"""The list of conversations over the chat: for screens too narrow to have it at the side, and to search from anywhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from medusa_chat.tui.chat.conversation_list import ConversationList
from medusa_chat.tui.key_line import KeyLine
from medusa_chat.tui.shelf import Shelf
from medusa_chat.tui.text import FRAME, that_fits


class ConversationsScreen(ModalScreen["ConversationList.Chosen | None"]):
    """Gives back what was chosen. What is typed goes into the search; tab leads to the lines and their keys."""

    CSS_PATH = "conversations.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (20, "-high")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", id="conversations.close", key_display="esc", tooltip="Back to the chat"),
    ]

    def __init__(self, shelf: Shelf, leave: Callable[[int], Awaitable[None]]) -> None:
        super().__init__()
        self._list = ConversationList(shelf, leave, grouped=False)

    def compose(self) -> ComposeResult:
        with _Page(id="conversations"):
            yield self._list
        yield KeyLine()

    def on_mount(self) -> None:
        self.query_one("#words", Input).focus()
        self._list.look_again()

    @on(ConversationList.Chosen)
    def _on_chosen(self, event: ConversationList.Chosen) -> None:
        self.dismiss(event)


class _Page(Vertical):
    BORDER_TITLE = "Conversations"

    def on_resize(self) -> None:
        self.border_subtitle = that_fits(
            self.outer_size.width - FRAME,
            "enter opens · ctrl+d deletes · tab: more · esc closes",
            "enter opens · esc closes",
        )
