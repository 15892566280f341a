"""Lines with something before their text, a marker or a bar, which are wrapped beside it and not under it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich._wrap import divide_line
from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content
from textual.css.styles import RulesMap
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions

_NO_BAR = re.compile("[^▎▌]")


def under(lead: str) -> str:
    """What stands before the further rows of a line: its bars again, and room for all else."""
    return _NO_BAR.sub(" ", lead)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text; neither part holds a line end or a tab."""

    lead: str
    """Marker, bars and indentation, each character one cell."""
    text: Content
    style: str = ""
    """Of the lead."""


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    """Of the line."""
    x: int
    """Characters of the line before it."""
    start: int
    end: int
    """In all characters; of a line's first row with its lead."""
    lead: str = ""
    """What stands before a further row and is no part of the text."""


class Hanging(Content):
    """Selected and copied as any content of these lines is; but the rows below a line's first begin under its text.

    A lead that would take more than half of a narrow screen is wrapped with its text.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        whole = Content("\n").join([Content.assemble((line.lead, line.style), line.text) for line in lines])
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
            lead_style = style + options.get_style(self._lines[row.number].style)
            lead = [Segment(row.lead, lead_style.rich_style)] if row.lead else []
            parts = [
                Segment(part, look.rich_style_with_offset(row.x + place - row.start, row.number))
                for place, part, look in looks.between(row.start, row.end)
            ]
            # Where there is no text the mouse finds a place all the same.
            nothing = Segment("", style.rich_style_with_offset(row.x, row.number))
            strips.append(Strip(lead + parts or [nothing]))
        return strips

    def _in(self, width: int) -> list[_Row]:
        if self._rows[0] != width:
            self._rows = width, list(self._wrap(width))
        return self._rows[1]

    def _wrap(self, width: int) -> Iterator[_Row]:
        start = 0
        for number, line in enumerate(self._lines):
            beside = len(line.lead) if len(line.lead) <= width // 2 else 0
            text = (line.lead + line.text.plain)[beside:]
            places = [0, *divide_line(text, width - beside), len(text)]
            for begin, end in pairwise(places):
                row = text[begin:end]
                if end < len(text) or cell_len(row) > width - beside:
                    row = row.rstrip()
                x = beside + begin if begin else 0
                yield _Row(
                    number, x, start + x, start + beside + begin + len(row), under(line.lead[:beside]) if begin else ""
                )
            start += beside + len(text) + 1

    def _selected(self, options: RenderOptions) -> Content:
        """As it is, with what the mouse has marked."""
        if options.selection is None or options.selection_style is None:
            return self
        content, start = Content(self.plain, list(self.spans)), 0
        for number, line in enumerate(self._lines):
            length = len(line.lead) + len(line.text)
            if (span := options.selection.get_span(number)) is not None:
                first, last = span
                last = length if last == -1 else min(last, length)
                content = content.stylize(options.selection_style, start + first, start + last)
            start += length + 1
        return content


class _Looks:
    """Parts of a text with their styles, asked for from the front to the end."""

    def __init__(self, parts: Iterable[tuple[str, Style]]) -> None:
        self._parts = iter(parts)
        self._start, self._part, self._style = 0, "", Style.null()

    def between(self, start: int, end: int) -> Iterator[tuple[int, str, Style]]:
        """(place, text, style) of all there is from `start` to `end`."""
        while start < end:
            behind = self._start + len(self._part)
            if start >= behind:
                self._start = behind
                self._part, self._style = next(self._parts)
            else:
                part = self._part[start - self._start : end - self._start]
                yield start, part, self._style
                start += len(part)
