"""What questions and answers in the transcript have in common: the cursor can stand on them, and they may have siblings."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from textual.content import Content
from textual.events import Click
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.text import MUTED
from medusa_chat.tui.turn import Turn

_SIGN = "▶"
_MARKED = "-marked"


@dataclass
class Walked(Message):
    """The person wants the sibling `by` places on."""

    view: MessageView
    by: int


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


class SiblingLine(Static):
    """Below an answer that has siblings."""

    def __init__(self, place: tuple[int, int]) -> None:
        super().__init__(_place(place), classes="siblings", markup=False)

    def on_click(self, event: Click) -> None:
        event.stop()
        if isinstance(self.parent, MessageView):
            self.post_message(Walked(self.parent, _direction(event.x, self.parent.turn.answers)))


class QuestionView(MessageView, Static):
    """A question, flat: it never changes. Its last line says so when it has siblings."""

    def __init__(self, turn: Turn) -> None:
        words = Content(harmless(turn.question))
        if turn.wordings[1] > 1:
            words = Content.assemble(words, "\n", _place(turn.wordings))
        super().__init__(words, classes="question", markup=False)
        self.turn = turn

    @property
    def said(self) -> str:
        return self.turn.question

    def on_click(self, event: Click) -> None:
        if self.turn.wordings[1] > 1 and event.y == self.outer_size.height - 1:
            event.stop()
            self.post_message(Walked(self, _direction(event.x - self.gutter.left, self.turn.wordings)))


def _place(place: tuple[int, int]) -> Content:
    """The brackets are the keys that walk."""
    return Content.assemble(
        ("[", "bold $accent"), (f" {place[0]}/{place[1]} ", f"{MUTED} not bold"), ("]", "bold $accent")
    )


def _direction(x: int, place: tuple[int, int]) -> int:
    return -1 if x < _place(place).cell_length / 2 else 1
