"""Earlier conversations: the newest first, or those with certain words in them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from medusa_chat.chats.records import Hit
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.text import MUTED


class ConversationsScreen(ModalScreen["int | None"]):
    """Gives back the id of the chosen one. What is typed always goes into the search; up and down walk the list."""

    CSS_PATH = "conversations.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Close", id="conversations.close", key_display="esc", tooltip="Back to the chat"),
        Binding("down", "walk(1)", "Next", id="conversations.next", priority=True, show=False, tooltip="The next one"),
        Binding("up", "walk(-1)", "Last", id="conversations.last", priority=True, show=False, tooltip="The one before"),
        Binding("ctrl+d", "delete", "Delete", id="conversations.delete", priority=True, tooltip="Delete this one"),
        Binding("ctrl+z", "restore", "Undo", id="conversations.restore", priority=True, tooltip="Bring it back"),
    ]

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        self._deleted: list[int] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="conversations") as page:
            page.border_title = "Conversations"
            page.border_subtitle = "enter opens · ctrl+d deletes · ctrl+z brings back · esc closes"
            yield Input(placeholder="Search", id="words", compact=True)
            yield OptionList(id="found", markup=False, compact=True)
            yield Static(id="none", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._find()

    @on(Input.Changed)
    @work(exclusive=True, group="find")
    async def _find(self) -> None:
        words = self.query_one(Input).value
        try:
            hits = await self._journal.find(words)
        except MedusaError as error:
            self._tell(str(error))
            return
        found = self.query_one(OptionList)
        found.clear_options()
        found.add_options([Option(_row(hit), id=str(hit.conversation.id)) for hit in hits])
        found.highlighted = 0 if hits else None
        self._tell("" if hits else "No conversation has these words." if words.strip() else "No conversation yet.")

    def _tell(self, text: str) -> None:
        said = self.query_one("#none", Static)
        said.update(Content.styled(harmless(text), MUTED))
        said.display = bool(text)

    def action_walk(self, by: int) -> None:
        found = self.query_one(OptionList)
        if by > 0:
            found.action_cursor_down()
        else:
            found.action_cursor_up()

    @on(Input.Submitted)
    def _on_submitted(self) -> None:
        if (chosen := self._marked) is not None:
            self.dismiss(chosen)

    @on(OptionList.OptionSelected)
    def _on_clicked(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(int(event.option_id or 0))

    async def action_delete(self) -> None:
        if (marked := self._marked) is not None and await self._change(self._journal.delete, marked):
            self._deleted.append(marked)

    async def action_restore(self) -> None:
        if self._deleted and await self._change(self._journal.restore, self._deleted[-1]):
            self._deleted.pop()

    async def _change(self, change: Callable[[int], Awaitable[None]], conversation: int) -> bool:
        try:
            await change(conversation)
        except MedusaError as error:
            self._tell(str(error))
            return False
        self._find()
        return True

    @property
    def _marked(self) -> int | None:
        option = self.query_one(OptionList).highlighted_option
        return int(option.id) if option is not None and option.id is not None else None


def _row(hit: Hit) -> Content:
    """Day and title; below, where the words were found. What is too long for a line is cut, not wrapped."""
    about = hit.conversation
    day = datetime.fromtimestamp(about.changed).strftime("%Y-%m-%d")
    head = Content.assemble((f"{day}  ", MUTED), (_line(about.title) or "untitled", "bold $foreground"))
    if not hit.pieces:
        return head
    pieces = [(_line(text), "bold underline $accent" if found else MUTED) for text, found in hit.pieces]
    return Content.assemble(head, "\n" + " " * 12, *pieces)


def _line(text: str) -> str:
    return harmless(text).replace("\n", " ").replace("\t", " ")
