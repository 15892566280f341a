"""A list of conversations with a search above it, and all that can be done to one: at the side and in the picker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from medusa_chat.chats.records import Conversation, Hit
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.chat.conversation_lines import Conversations
from medusa_chat.tui.chat.conversation_rows import group, row
from medusa_chat.tui.shelf import PAGE, Shelf
from medusa_chat.tui.text import MUTED


class ConversationList(Vertical):
    """`leave` is asked to leave a conversation before it is deleted. With `grouped`, days are headings."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "walk(1)", "Next", id="conversations.next", priority=True, show=False, tooltip="The next one"),
        Binding("up", "walk(-1)", "Last", id="conversations.last", priority=True, show=False, tooltip="The one before"),
        Binding("ctrl+d", "delete", "Delete", id="conversations.delete", priority=True, show=False, tooltip="Delete this one"),
        Binding("ctrl+z", "restore", "Undo", id="conversations.restore", priority=True, tooltip="Bring back what was deleted last"),
        Binding("escape", "keep_title", "Cancel", id="conversations.keep", key_display="esc", tooltip="Leave the title as it was"),
    ]  # fmt: skip

    @dataclass
    class Chosen(Message):
        """To be opened; at a message, by id, where that is what was searched for."""

        conversation: int
        message: int | None

    def __init__(self, shelf: Shelf, leave: Callable[[int], Awaitable[None]], grouped: bool) -> None:
        super().__init__()
        self._shelf = shelf
        self._leave = leave
        self._grouped = grouped
        self._hits: list[Hit] = []
        self._more = False
        self._archived = False
        self._deleted: list[Conversation] = []

    def compose(self) -> ComposeResult:
        yield Input(placeholder="Search", id="words", compact=True)
        yield Input(placeholder="New title", id="title", compact=True)
        yield Conversations(id="found", markup=False, compact=True)
        yield Static(id="none", markup=False)

    # What is listed.

    @on(Input.Changed, "#words")
    def _on_words(self) -> None:
        self.look_again()

    @work(exclusive=True, group="find")
    async def look_again(self) -> None:
        """List anew; the cursor stays on its conversation, or in its place."""
        words = self.query_one("#words", Input).value
        try:
            hits = await self._shelf.find(words, self._archived)
        except MedusaError as error:
            self._say(str(error))
            return
        found, marked = self.query_one(Conversations), self.marked
        place = found.highlighted or 0
        self._hits, self._more = [], not words.strip() and len(hits) == PAGE
        found.clear_options()
        self._add(hits, grouped=self._grouped and not words.strip())
        self._mark(marked, place)
        empty = "Nothing is archived." if self._archived else "No conversation yet."
        self._say("" if hits else "No conversation has these words." if words.strip() else empty)

    @on(Conversations.NearEnd)
    @work(exclusive=True, group="more")
    async def _fetch_more(self) -> None:
        if self._more:
            try:
                hits = await self._shelf.find("", self._archived, len(self._hits))
            except MedusaError as error:
                self._say(str(error))
                return
            self._more = len(hits) == PAGE
            known = {hit.conversation.id for hit in self._hits}
            self._add([hit for hit in hits if hit.conversation.id not in known], self._grouped)

    def _add(self, hits: Sequence[Hit], grouped: bool) -> None:
        last = group(self._hits[-1].conversation.changed, date.today()) if self._hits else None
        options: list[Option] = []
        for hit in hits:
            if grouped and (heading := group(hit.conversation.changed, date.today())) != last:
                last = heading
                options.append(Option(Content.styled(heading, "$secondary"), disabled=True))
            options.append(Option(row(hit, self._shelf.here, dated=not self._grouped), id=str(hit.conversation.id)))
        self._hits += hits
        self.query_one(Conversations).add_options(options)

    def _mark(self, wanted: Conversation | None, place: int) -> None:
        found = self.query_one(Conversations)
        places = [number for number, option in enumerate(found.options) if option.id is not None]
        same = [number for number in places if wanted is not None and found.options[number].id == str(wanted.id)]
        found.highlighted = next(iter(same or [number for number in places if number >= place] or places[-1:]), None)

    @property
    def marked(self) -> Conversation | None:
        """The one under the cursor."""
        hit = self._hit(self.query_one(Conversations).highlighted_option)
        return None if hit is None else hit.conversation

    def _hit(self, option: Option | None) -> Hit | None:
        id = None if option is None else option.id
        return next((hit for hit in self._hits if str(hit.conversation.id) == id), None)

    def _say(self, text: str) -> None:
        said = self.query_one("#none", Static)
        said.update(Content.styled(harmless(text), MUTED))
        said.display = bool(text)

    # What is done.

    def action_walk(self, by: int) -> None:
        found = self.query_one(Conversations)
        if by > 0:
            found.action_cursor_down()
        else:
            found.action_cursor_up()

    def action_search(self) -> None:
        self.query_one("#words", Input).focus()

    @on(Input.Submitted, "#words")
    def _on_submitted(self) -> None:
        self._choose(self.query_one(Conversations).highlighted_option)

    @on(OptionList.OptionSelected)
    def _on_selected(self, event: OptionList.OptionSelected) -> None:
        self._choose(event.option)

    def _choose(self, option: Option | None) -> None:
        if (hit := self._hit(option)) is not None:
            self.post_message(self.Chosen(hit.conversation.id, hit.message))

    def action_archived(self) -> None:
        """The other kind: what was put away, or what was not."""
        self._archived = not self._archived
        self.query_one("#words", Input).placeholder = "Search · archived below" if self._archived else "Search"
        self.look_again()

    async def action_delete(self) -> None:
        if (marked := self.marked) is not None:
            await self._leave(marked.id)
            if await self._do(
                self._shelf.delete(marked.id), f"{_named(marked)} is deleted; ctrl+z in the list brings it back."
            ):
                self._deleted.append(marked)
                self.refresh_bindings()

    async def action_restore(self) -> None:
        if self._deleted and await self._do(self._shelf.restore(self._deleted[-1].id), ""):
            self._deleted.pop()
            self.refresh_bindings()

    async def action_archive(self) -> None:
        if (marked := self.marked) is not None:
            told = "is back in the list." if marked.archived else "is archived; A shows what was put away."
            await self._do(self._shelf.archive(marked.id, not marked.archived), f"{_named(marked)} {told}")

    async def action_private(self) -> None:
        if (marked := self.marked) is not None:
            told = "may be learned from again." if marked.private else "is private: heads never learn from it."
            await self._do(self._shelf.toggle_private(marked.id), f"{_named(marked)} {told}")

    async def action_export(self, form: str) -> None:
        if (marked := self.marked) is not None:
            try:
                path = await self._shelf.save(marked.id, form)
            except MedusaError as error:
                self.app.notify(str(error), severity="error")
            else:
                self.app.notify(f"Saved as {path}.")

    async def _do(self, change: Awaitable[object], told: str) -> bool:
        try:
            await change
        except MedusaError as error:
            self._say(str(error))
            return False
        if told:
            self.app.notify(told)
        self.look_again()
        return True

    # Another title, in a line of its own.

    def action_rename(self) -> None:
        if (marked := self.marked) is not None:
            title = self.query_one("#title", Input)
            title.value, title.display = marked.title, True
            title.focus()

    @on(Input.Submitted, "#title")
    async def _on_titled(self, event: Input.Submitted) -> None:
        if (marked := self.marked) is not None and await self._do(self._shelf.rename(marked.id, event.value), ""):
            self.action_keep_title()

    def action_keep_title(self) -> None:
        self.query_one("#title", Input).display = False
        self.query_one(Conversations).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "restore":
            return bool(self._deleted)
        return action != "keep_title" or self.query_one("#title", Input).display


def _named(conversation: Conversation) -> str:
    return f"“{' '.join(conversation.title.split())}”"
