"""What one lane has written, row by row; the text may grow at any speed, only new rows cost anything."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.compare.wrapping import rows_of

_GUTTER = 2
_NO_SIGN, _PARTS, _APART = "  ", "≠ ", "┆ "
_NEAR_THE_END = 1


class LaneText(ScrollView, can_focus=True):
    """Follows the end while the person is there. From where the text leaves the first lane's, rows have a sign."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lane--apart", "lane--first-apart", "lane--sign", "lane--hint"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", id="compare.down", show=False, tooltip="Read on in this lane"),
        Binding("k", "scroll_up", "Up", id="compare.up", show=False, tooltip="Read further up in this lane"),
        Binding("g", "scroll_home", "Top", id="compare.top", show=False, tooltip="To the beginning of this lane"),
        Binding(
            "G", "scroll_end", "End", id="compare.end", show=False, tooltip="To the end of this lane, following it"
        ),
    ]

    @dataclass
    class Titled(Message):
        """The title was clicked: another contestant, please."""

        lane: int

    def __init__(self, lane: int) -> None:
        super().__init__(id=f"lane-{lane}")
        self.lane = lane
        self.hint = ""
        """Said as long as there is no text."""
        self._head: tuple[Content, str] | None = None
        self._source = ""
        self._parted: int | None = None
        self._text = ""
        self._apart: int | None = None
        """As `_source` and `_parted`, but in what is shown."""
        self._rows: list[tuple[int, int]] = [(0, 0)]
        self._following = True

    def show(self, text: str, parted: int | None) -> None:
        """Draw the text of a lane as it stands. `parted`: its first character the first lane does not have."""
        if text == self._source and parted == self._parted:
            return
        if text.startswith(self._source):
            self._extend(_fit(text[len(self._source) :]))
        else:
            self._text, self._rows, self._following = "", [(0, 0)], True
            self._extend(_fit(text))
            self.refresh()
        self._source = text
        if parted != self._parted:
            self._parted = parted
            self._apart = self._place(parted) if parted is not None else None
            self.refresh()

    def reveal(self, character: int) -> None:
        """Scroll to where this character of the text stands."""
        place = self._place(character)
        row = bisect_right(self._rows, (place, len(self._text))) - 1
        self.scroll_to(y=row - self.size.height // 3, animate=False, force=True)

    def head(self, title: Content, ending: str) -> None:
        """Words on the border, which is drawn anew only for others."""
        if (title, ending) != self._head:
            self._head = title, ending
            self.border_title = title
            self.border_subtitle = ending

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Only scrolling ends or begins the following; growing and being resized do not."""
        super().watch_scroll_y(old_value, new_value)
        self._following = self.max_scroll_y - new_value <= _NEAR_THE_END

    def on_resize(self, event: Resize) -> None:
        self._rows = rows_of(self._text, self._width)
        self._grow()

    def on_click(self, event: Click) -> None:
        if event.screen_y == self.region.y:
            self.post_message(self.Titled(self.lane))

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        if not self._text and number == 0:
            segments = [Segment(_NO_SIGN), Segment(self.hint, self.get_component_rich_style("lane--hint"))]
        elif number < len(self._rows):
            segments = self._row(number)
        else:
            segments = []
        return Strip(segments).adjust_cell_length(width).apply_style(self.rich_style)

    @property
    def _width(self) -> int:
        return max(1, self.scrollable_content_region.width - _GUTTER)

    def _extend(self, text: str) -> None:
        self._text += text
        last, _ = self._rows.pop()
        first_new = len(self._rows)
        self._rows += rows_of(self._text, self._width, last)
        self._grow()
        self.refresh_lines(first_new, len(self._rows) - first_new)

    def _grow(self) -> None:
        self.virtual_size = Size(self._width, len(self._rows))
        if self._following:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)

    def _row(self, number: int) -> list[Segment]:
        start, end = self._rows[number]
        parted = self._apart
        if parted is None or parted > end or (parted == end and number + 1 < len(self._rows)):
            return [Segment(_NO_SIGN), Segment(self._text[start:end])]
        sign = Segment(_PARTS if parted >= start else _APART, self.get_component_rich_style("lane--sign"))
        here = max(parted, start)
        word_end = _word_end(self._text, parted) if parted >= start else here
        return [
            sign,
            Segment(self._text[start:here]),
            Segment(self._text[here : min(word_end, end)], self._style("lane--first-apart")),
            Segment(self._text[min(word_end, end) : end], self._style("lane--apart")),
        ]

    def _place(self, character: int) -> int:
        """Of a character of the text among those shown."""
        return len(_fit(self._source[:character]))

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)


def _fit(text: str) -> str:
    """Works on any cut of a stream."""
    return harmless(text).replace("\t", "    ")


def _word_end(text: str, start: int) -> int:
    """Behind the first word from `start` on, spaces before it included."""
    rest = text[start:]
    return start + len(rest) - len(rest.lstrip()) + len((rest.split(maxsplit=1) or [""])[0])
