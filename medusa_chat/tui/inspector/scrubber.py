"""All steps of an answer on one bar, with the accepted length of each below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, MouseEvent, MouseMove
from textual.message import Message
from textual.widget import Widget

from medusa_chat.tui.panel.lengths import sparkline
from medusa_chat.tui.text import FAINT, MUTED

_HANDLE = "●"
_MOST = 4


def columns_each(steps: int, width: int) -> int:
    """Columns a step takes: several in a short answer, so that it is easily hit; 1 also where steps share one."""
    return min(max(width // max(steps, 1), 1), _MOST)


def column_of(place: int, steps: int, width: int) -> int:
    """Where a step begins on a bar of `width` columns."""
    return place * columns_each(steps, width) if steps <= width else place * width // steps


def place_at(column: int, steps: int, width: int) -> int:
    """The first step of a column; beyond the end the last step."""
    place = column // columns_each(steps, width) if steps <= width else -(-column * steps // width)
    return min(max(place, 0), max(steps - 1, 0))


def heights(lengths: Sequence[int], width: int) -> list[float]:
    """One for each column that is used: the step's, or the mean of its steps."""
    steps = len(lengths)
    if steps <= width:
        return [float(length) for length in lengths for _ in range(columns_each(steps, width))]
    starts = [place_at(column, steps, width) for column in range(width)] + [steps]
    return [sum(lengths[start:end]) / max(end - start, 1) for start, end in pairwise(starts)]


class Scrubber(Widget, can_focus=True):
    """With the focus, left and right walk through the steps; the mouse goes to one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "walk(-1)", "Step back", id="scrubber.back", show=False, tooltip="One step back"),
        Binding("right,l", "walk(1)", "Step on", id="scrubber.on", show=False, tooltip="One step on"),
    ]

    @dataclass
    class Moved(Message):
        """The person wants to see this step, counted from 0."""

        place: int

    def __init__(self) -> None:
        super().__init__()
        self._lengths: Sequence[int] = ()
        self._place = 0
        self._top = 1

    def show(self, lengths: Sequence[int], place: int, top: int) -> None:
        """`top` is the accepted length that fills the line."""
        self._lengths, self._place, self._top = lengths, place, top
        self.refresh()

    def render(self) -> Content:
        width, steps = self.size.width, len(self._lengths)
        if not steps or not width:
            return Content.styled("╌" * width, FAINT)
        here, each = column_of(self._place, steps, width), columns_each(steps, width)
        used = min(steps * each, width)
        # In hundredths, so that the mean of several steps in a column is not rounded away.
        hundredths = [round(100 * height) for height in heights(self._lengths, width)]
        trend = sparkline(hundredths, width, 100 * self._top, max(self.size.height - 1, 1))
        handle = "bold reverse $accent" if self.has_focus else "bold $accent"
        bar = [
            ("━" * here, "$primary"), (_HANDLE, handle), ("━" * (used - here - 1), MUTED), ("╌" * (width - used), FAINT),
        ]  # fmt: skip
        rows = [
            [(row[:here], "$primary"), (row[here : here + each], "bold $accent"), (row[here + each :], MUTED)]
            for row in trend
        ]
        return Content("\n").join(Content.assemble(*row) for row in (bar, *rows))

    def action_walk(self, by: int) -> None:
        self.post_message(self.Moved(self._place + by))

    def on_click(self, event: Click) -> None:
        self._go(event)

    def on_mouse_move(self, event: MouseMove) -> None:
        if event.button == 1:
            self._go(event)

    def _go(self, event: MouseEvent) -> None:
        if self._lengths:
            x = event.get_content_offset_capture(self).x
            self.post_message(self.Moved(place_at(x, len(self._lengths), self.size.width)))
