"""The conversation so far. Follows the newest line only while the person is at the bottom."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.chat.answer import AnswerView, failure
from medusa_chat.tui.turn import Turn

LIVE_ANSWERS = 3
"""Answers kept as Markdown blocks; each costs about twenty widgets, and every one makes each frame slower."""

_TOLERANCE = 2


class Transcript(VerticalScroll, can_focus=False):
    """Questions and answers, oldest first."""

    @property
    def following(self) -> bool:
        return self.max_scroll_y - self.scroll_y <= _TOLERANCE

    def settle(self) -> None:
        """Follow from when there is more than fits: an anchored view with less would hang at the bottom."""
        if self.is_anchored != (over := self.virtual_size.height > self.container_size.height):
            self.anchor(over)
            if not over:
                self.scroll_home(animate=False, immediate=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """A released anchor takes hold again near the bottom: the exact last row keeps moving while text streams."""
        super().watch_scroll_y(old_value, new_value)
        if new_value > old_value and self.is_anchored and self.following:
            self.anchor()

    async def start(self, welcome: Widget, turns: Sequence[Turn] = ()) -> None:
        """Nothing but the welcome and what was said long ago."""
        await self.remove_children()
        past = [widget for turn in turns for widget in (_question(turn), AnswerView(turn, past=True))]
        await self.mount(welcome, *past)
        self.anchor(False)
        self.scroll_home(animate=False, immediate=True)

    async def add(self, turn: Turn) -> AnswerView:
        """Show a question and the place its answer will grow in; whoever asks wants to see it, so follow again."""
        answer = AnswerView(turn)
        await self.mount(_question(turn), answer)
        for old in list(self.query(AnswerView))[:-LIVE_ANSWERS]:
            await old.freeze()
        if self.is_anchored:
            self.anchor()
        return answer

    async def tell(self, problem: str) -> None:
        """Something went wrong outside of any answer."""
        await self.mount(Static(failure(problem), classes="problem", markup=False))


def _question(turn: Turn) -> Static:
    return Static(Content(harmless(turn.question)), classes="question", markup=False)
