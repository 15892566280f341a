"""What questions and answers in the transcript have in common: the cursor can stand on them."""

from __future__ import annotations

from rich.segment import Segment
from textual.content import Content
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.turn import Turn

_SIGN = "▶"
_MARKED = "-marked"


class MessageView(Widget):
    """One message of a turn. Marked, it has a bar along its left side and a sign at the bar's top."""

    turn: Turn

    @property
    def said(self) -> str:
        """The words of the message, as they were written."""
        raise NotImplementedError

    @property
    def marked(self) -> bool:
        return self.has_class(_MARKED)

    def mark(self, marked: bool) -> None:
        self.set_class(marked, _MARKED)

    def render_lines(self, crop: Region) -> list[Strip]:
        strips = super().render_lines(crop)
        if self.marked and crop.x == crop.y == 0 and strips:
            first = strips[0]
            bar = next((segment.style for segment in first if segment.text), None)
            strips[0] = Strip.join([Strip([Segment(_SIGN, bar)], 1), first.crop(1, first.cell_length)])
        return strips


class QuestionView(MessageView, Static):
    """A question, flat: it never changes."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(Content(harmless(turn.question)), classes="question", markup=False)
        self.turn = turn

    @property
    def said(self) -> str:
        return self.turn.question
