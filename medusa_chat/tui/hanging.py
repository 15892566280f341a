"""Lines with something before their text, a marker or a bar, which are wrapped beside it and not under it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from rich._wrap import divide_line
from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

from medusa_chat.tui.text import FAINT, MUTED

CODE_BAR = "▎ "
QUOTE_BAR = "▌ "
_NO_BAR = re.compile("[^▎▌]")


def under(lead: str) -> str:
    """What stands before the further rows of a line: its bars again, and room for all else."""
    return _NO_BAR.sub(" ", lead)


class Piece(NamedTuple):
    """What stands on one row, or in one column of it."""

    before: str
    """Shown before it and no part of the line's text."""
    start: int
    end: int
    """In characters of the line, its lead included."""


class Line:
    """One line of text; neither part holds a line end or a tab."""

    __slots__ = ("lead", "text")

    def __init__(self, lead: str, text: Content) -> None:
        self.lead = lead
        """Marker, bars and indentation, each character one cell."""
        self.text = text

    def __len__(self) -> int:
        return len(self.lead) + len(self.text.plain)

    def beside(self, width: int) -> int:
        """Characters of the lead that all rows of the line stand beside: none where it would take more than half."""
        return len(self.lead) if len(self.lead) <= width // 2 else 0

    def rows(self, width: int) -> Iterator[Sequence[Piece]]:
        beside = self.beside(width)
        yield from hung(self.lead + self.text.plain, beside, width, under(self.lead[:beside]))


def hung(text: str, beside: int, width: int, before: str) -> Iterator[Sequence[Piece]]:
    """The rows of a text; `before`, all but the first begin behind its first `beside` characters."""
    hanging = text[beside:]
    for begin, end in pairwise([0, *divide_line(hanging, width - beside), len(hanging)]):
        row = hanging[begin:end]
        if end < len(hanging) or cell_len(row) > width - beside:
            row = row.rstrip()
        start = beside + begin
        yield (Piece(before, start, start + len(row)) if begin else Piece("", 0, start + len(row)),)


class _Row(NamedTuple):
    line: int
    start: int
    """Characters of all lines before that one."""
    pieces: Sequence[Piece]


class Hanging(Content):
    """Selected and copied as any content of these lines is; but the rows below a line's first begin under its text."""

    def __init__(self, lines: Sequence[Line]) -> None:
        whole = Content("\n").join([Content.assemble(*_in_parts(line.lead), line.text) for line in lines])
        super().__init__(whole.plain, list(whole.spans), strip_control_codes=False)
        self._lines = lines or [Line("", Content(""))]
        self._rows: tuple[int, list[_Row]] = (0, [])
        """In the width they were last asked for."""

    def get_height(self, rules: RulesMap, width: int) -> int:
        return len(self._in(width))

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        if not width:
            return []
        looks = _Looks(self._selected(options).render(style, "", options.get_style))
        strips = []
        for row in self._in(width)[:height]:
            # Where there is no text the mouse finds a place all the same.
            nothing = Segment("", style.rich_style_with_offset(row.pieces[-1].end, row.line))
            strips.append(Strip(list(self._segments(row, looks, style, options)) or [nothing]))
        return strips

    def _segments(self, row: _Row, looks: _Looks, style: Style, options: RenderOptions) -> Iterator[Segment]:
        for before, start, end in row.pieces:
            for part, name in _in_parts(before):
                # Wherever the mouse is in bars and spaces, it finds the beginning of the text behind them.
                found = (style + options.get_style(name)).rich_style_with_offset(start, row.line)
                by_cells = all(cell_len(character) == 1 for character in part)
                yield from (Segment(cells, found) for cells in (part if by_cells else [part]))
            for place, part, look in looks.between(row.start + start, row.start + end):
                yield Segment(part, look.rich_style_with_offset(place - row.start, row.line))

    def _in(self, width: int) -> list[_Row]:
        if self._rows[0] != width:
            self._rows = width, list(self._wrap(width))
        return self._rows[1]

    def _wrap(self, width: int) -> Iterator[_Row]:
        start = 0
        for number, line in enumerate(self._lines):
            yield from (_Row(number, start, pieces) for pieces in line.rows(width))
            start += len(line) + 1

    def _selected(self, options: RenderOptions) -> Content:
        """As it is, with what the mouse has marked."""
        if options.selection is None or options.selection_style is None:
            return self
        content, start = Content(self.plain, list(self.spans)), 0
        for number, line in enumerate(self._lines):
            if (span := options.selection.get_span(number)) is not None:
                first, last = span
                last = len(line) if last == -1 else min(last, len(line))
                content = content.stylize(options.selection_style, start + first, start + last)
            start += len(line) + 1
        return content


def _in_parts(lead: str) -> list[tuple[str, str]]:
    """(text, style) of a lead: the bar of a block of code is fainter than what it stands in."""
    others, bar, behind = lead.partition(CODE_BAR[0])
    return [(part, style) for part, style in ((others, MUTED), (bar + behind, FAINT)) if part]


class _Looks:
    """Parts of a text with their styles."""

    def __init__(self, parts: Iterable[tuple[str, Style]]) -> None:
        self._parts = list(parts)
        self._starts = list(accumulate((len(text) for text, _ in self._parts), initial=0))

    def between(self, start: int, end: int) -> Iterator[tuple[int, str, Style]]:
        """(place, text, style) of all there is from `start` to `end`."""
        number = bisect_right(self._starts, start) - 1
        while start < end:
            text, style = self._parts[number]
            part = text[start - self._starts[number] : end - self._starts[number]]
            if part:
                yield start, part, style
            start, number = start + len(part), number + 1
