"""The key that shows answers token by token: all of them, or the one under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on, work

from medusa_chat.chats.trace import TraceStep
from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.chat.answer import AnswerView
from medusa_chat.tui.chat.reading import ReadingScreen
from medusa_chat.tui.chat.transcript import Transcript
from medusa_chat.tui.journal import Journal
from medusa_chat.tui.keeping import trace_step
from medusa_chat.tui.turn import Turn


class TokenScreen(ReadingScreen):
    """Fetches the steps, from memory or from the disk; the answers themselves draw them."""

    _journal: Journal
    _all_by_tokens = False

    async def action_tokens(self) -> None:
        """All answers, those to come included, token by token or as text."""
        self._all_by_tokens = not self._all_by_tokens
        if self._all_by_tokens:
            self._show_tokens()
        else:
            for view in self.query(AnswerView):
                await view.show_text()

    async def action_message_tokens(self) -> None:
        """The answer under the cursor, or of the question under it."""
        turn = self.chosen
        view = next((view for view in self.query(AnswerView) if view.turn is turn), None)
        if view is None:
            return
        if view.by_tokens:
            await view.show_text()
        else:
            await self._show_one(view)

    @on(Transcript.EarlierShown)
    def _on_earlier_shown(self) -> None:
        self.keep_token_view()

    def keep_token_view(self) -> None:
        """Answers have come into view; where all are shown by tokens, they are."""
        if self._all_by_tokens:
            self._show_tokens()

    @work(exclusive=True, group="tokens")
    async def _show_tokens(self) -> None:
        """The newest first: it is the one that is looked at."""
        for view in reversed(list(self.query_one(Transcript).query(AnswerView))):
            if view.is_attached and self._all_by_tokens:
                await self._show_one(view)

    async def _show_one(self, view: AnswerView) -> None:
        try:
            await view.show_tokens(self._steps_of)
        except MedusaError as error:
            await view.show_text()
            self.notify(str(error), severity="error")

    async def _steps_of(self, turn: Turn) -> Sequence[TraceStep]:
        if turn.steps:
            return [trace_step(step) for step in turn.steps]
        return await self._journal.steps(turn.kept.answer) if turn.kept.answer is not None else ()
