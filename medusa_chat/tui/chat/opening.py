"""Which conversation is open: a new one, an earlier one from a list, one from a file; and its system prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual import on, work
from textual.app import SystemCommand

from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.chat.arrangement import is_over
from medusa_chat.tui.chat.branching import BranchingScreen
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.conversation_list import ConversationList
from medusa_chat.tui.chat.earlier import AT_ONCE
from medusa_chat.tui.chat.sidebar import Sidebar
from medusa_chat.tui.chat.system_prompt import SystemEditor, SystemLine
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.shelf import Shelf
from medusa_chat.tui.turn import Turn


class OpeningScreen(BranchingScreen):
    """A conversation is only ever left with all of it saved or waiting to be."""

    shelf: Shelf

    async def show(self, turns: Sequence[Turn]) -> None:
        """Another conversation than before."""
        raise NotImplementedError

    async def action_new(self) -> None:
        self.dialogue.forget()
        await self.show(())
        self.action_compose()

    async def leave(self, conversation: int) -> None:
        """Before it is deleted: an answer that runs in it ends."""
        if conversation == self.shelf.here:
            self.dialogue.forget()
            await self.show(())

    async def open(self, conversation: int, message: int | None = None) -> None:
        """At its end, to go on; or at one of its messages, to read.

        A message that is on another branch is shown there. That is a look only: the file keeps the branch that was
        chosen, until the person asks something on this one, walks on from it or exports it.
        """
        self.dialogue.leave()
        try:
            about, branches = await self.dialogue.talk.recall(conversation)
        except MedusaError as error:
            self.notify(str(error), severity="error")
        else:
            there = None if message is None else branches.lead_to(message)
            self.dialogue.go_on(about, branches)
            await self.show(self.dialogue.turns)
            transcript = self.query_one(Transcript)
            if there is None:
                self.action_compose()
            elif (further := transcript.further_up(there)) > AT_ONCE:
                self.action_compose()
                self.notify(f"These words stand {further} turns further up: alt+PgUp leads there.", timeout=8)
            else:
                self._end_visit()
                await transcript.read(there, asked=there.kept.question == message)

    @work(exclusive=True, group="conversations")
    async def action_conversations(self) -> None:
        from medusa_chat.tui.chat.conversations import ConversationsScreen

        chosen = await self.app.push_screen_wait(ConversationsScreen(self.shelf, self.leave))
        if chosen is not None:
            await self.open(chosen.conversation, chosen.message)
        self.query_one(Sidebar).look_again()

    @on(ConversationList.Chosen)
    async def _on_conversation_chosen(self, event: ConversationList.Chosen) -> None:
        await self.open(event.conversation, event.message)

    # At the side.

    def action_sidebar(self) -> None:
        """Show it and go there; from there, hide it."""
        sidebar = self.query_one(Sidebar)
        if self.shows("sidebar") and sidebar.has_focus_within:
            self.close_part("sidebar")
            self.query_one(Composer).focus()
        else:
            self.open_part("sidebar")
            sidebar.enter()

    def action_compose(self) -> None:
        """To the composer."""
        self._end_visit()
        self.query_one(Composer).focus()

    def _end_visit(self) -> None:
        """Conversations that stand where something else was were only visited."""
        if is_over("sidebar", self.size.width, self.wishes):
            self.wish(self.wishes.left("sidebar"))

    def _arrange(self, width: int) -> None:
        shown = self.shows("sidebar")
        super()._arrange(width)
        if self.shows("sidebar") and not shown:
            self.call_after_refresh(self.query_one(Sidebar).look_again)

    # To files and from them.

    async def _export(self, form: str) -> None:
        if (here := self.shelf.here) is None:
            self.notify("There is nothing to export yet.", timeout=4)
            return
        self.dialogue.talk.stay()
        try:
            path = await self.shelf.save(here, form)
        except MedusaError as error:
            self.notify(str(error), severity="error")
        else:
            self.notify(f"Saved as {path}.")

    @work(exclusive=True, group="conversations")
    async def _import(self) -> None:
        from medusa_chat.tui.chat.import_prompt import ImportPrompt

        brought = await self.app.push_screen_wait(ImportPrompt(self.shelf))
        if brought is not None:
            await self.open(brought)

    # What the model is told first.

    def action_system(self) -> None:
        self.app.push_screen(SystemEditor(self.dialogue.talk.system), self._instruct)

    def _instruct(self, system: str | None) -> None:
        if system is not None and system != self.dialogue.talk.system:
            self.dialogue.talk.instruct(system)
            self.query_one(SystemLine).show(system)

    def commands(self) -> Iterable[SystemCommand]:
        yield from super().commands()
        yield SystemCommand(
            "Export as Markdown", "This conversation as it is shown, to read", lambda: self._export("md")
        )
        yield SystemCommand(
            "Export as JSON", "With all branches, settings and steps; can be imported", lambda: self._export("json")
        )
        yield SystemCommand("Import a conversation", "From a JSON file that was exported", self._import)
