"""Editing questions, having them answered again, and walking between the branches that come of it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import on
from textual.app import SystemCommand

from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.composer import EDITING, READY, Composer
from medusa_chat.tui.chat.message_view import MessageView, QuestionView, Walked
from medusa_chat.tui.chat.reading import ReadingScreen
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.turn import Turn


class BranchingScreen(ReadingScreen):
    """Branches grow and are walked only while no answer is written."""

    editing: Turn | None = None
    """The turn whose question is in the composer."""

    async def grow(self, turn: Turn) -> None:
        """Show a turn that has just begun."""
        raise NotImplementedError

    def action_edit(self) -> None:
        """Put a question into the composer; what was typed there waits."""
        turn = self._asked()
        if turn is None:
            return
        self.end_editing()
        self.editing = turn
        composer = self.query_one(Composer)
        composer.put_aside(turn.question)
        composer.hint(EDITING)
        composer.focus()

    def end_editing(self) -> None:
        """Whatever became of it: the composer is as it was before."""
        if self.editing is not None:
            self.editing = None
            composer = self.query_one(Composer)
            composer.take_back()
            composer.hint(READY)

    async def ask_reworded(self, question: str) -> None:
        """What the composer held was another wording."""
        old = self.editing
        self.end_editing()
        if old is not None:
            await self._begin(self.dialogue.reword(old, question))

    async def action_regenerate(self) -> None:
        """Another answer to a question, beside the one there is."""
        if (turn := self._asked()) is not None:
            self.end_editing()
            await self._begin(self.dialogue.answer_again(turn))

    async def action_sibling(self, by: int) -> None:
        """From the message under the cursor, or else from the newest that has siblings."""
        view = self.marked or self._newest_with_siblings()
        if view is not None:
            await self._walk(view, by)

    @on(Walked)
    async def _on_walked(self, event: Walked) -> None:
        await self._walk(event.view, event.by)

    async def _walk(self, view: MessageView, by: int) -> None:
        if self._refused():
            return
        asked = isinstance(view, QuestionView)
        there = self.dialogue.talk.walk(view.turn, by, asked)
        if there is None:
            self.notify("There is no further one in this direction.", timeout=3)
            return
        self.end_editing()
        transcript, turns = self.query_one(Transcript), self.dialogue.turns
        await transcript.keep(turns)
        await transcript.extend(turns[turns.index(there) :])
        transcript.mark(
            next(each for each in transcript.messages if each.turn is there and isinstance(each, type(view)))
        )
        transcript.focus(scroll_visible=False)
        self._paint()

    async def _begin(self, turn: Turn) -> None:
        self.query_one(Composer).focus()
        await self.query_one(Transcript).keep(self.dialogue.turns)
        await self.grow(turn)

    def _asked(self) -> Turn | None:
        """The turn meant, if it can be asked once more; else the person is told why not."""
        turn = self.chosen
        if turn is None or not turn.question:
            self.notify("There is no question to ask again.", timeout=4)
            return None
        return None if self._refused() else turn

    def _refused(self) -> bool:
        if self.dialogue.busy:
            self.notify("Still answering: Esc stops it first.", timeout=4)
        return self.dialogue.busy

    def _newest_with_siblings(self) -> MessageView | None:
        return next((view for view in reversed(self.query_one(Transcript).messages) if _siblings(view) > 1), None)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys that walk are shown on a message that has siblings, and only in the direction they are in."""
        if action == "sibling" and (view := self.marked) is not None:
            return _siblings(view) > 1
        return super().check_action(action, parameters)

    def commands(self) -> Iterable[SystemCommand]:
        """What has a key only on a message, for the newest one."""
        yield SystemCommand("Edit the last question", "Ask it in other words, on a branch of its own", self.action_edit)
        yield SystemCommand("Regenerate the last answer", "Beside the one there is", self.action_regenerate)


def _siblings(view: MessageView) -> int:
    return (view.turn.answers if isinstance(view, AnswerView) else view.turn.wordings)[1]
