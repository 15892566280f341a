"""Curves over a common axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10

from medusa_chat.pictures.svg import FAINT, INK, Drawing

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6e7781")
"""Okabe and Ito's, told apart also by people who see few colours; lines are named at their ends besides."""

Place = Callable[[float, float], tuple[float, float]]

HEIGHT = 300
"""Of a panel."""
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 40, 44
_LABEL = 13


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right."""

    name: str
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines that share both axes."""

    title: str
    lines: Sequence[Line]
    x_name: str
    from_zero: bool = True
    """Whether the vertical axis begins at 0."""


def line_chart(panels: Sequence[Panel], title: str, width: int = 820, height: int = HEIGHT) -> str:
    """The SVG, one panel below the other; panels without a point are left out."""
    shown = [panel for panel in panels if any(line.points for line in panel.lines)]
    drawing = Drawing(width, max(1, len(shown)) * height, title)
    for number, panel in enumerate(shown):
        _panel(drawing, panel, width, number * height, height)
    return drawing.document()


def _panel(drawing: Drawing, panel: Panel, width: int, above: int, height: int) -> None:
    points = [point for line in panel.lines for point in line.points]
    low_x, high_x = _spread([x for x, _ in points])
    low_y, high_y = _spread([y for _, y in points] + ([0.0] if panel.from_zero else []))
    ticks = _ticks(low_y, high_y)
    low_y, high_y = min(low_y, ticks[0]), max(high_y, ticks[-1])
    bottom, inner = above + height - BOTTOM, height - TOP - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (width - LEFT - RIGHT) * (x - low_x) / (high_x - low_x)
        return right, bottom - inner * (y - low_y) / (high_y - low_y)

    drawing.text(LEFT, above + 22, panel.title, size=14, bold=True)
    for tick in ticks:
        _, y = place(low_x, tick)
        drawing.line(LEFT, y, width - RIGHT, y, FAINT)
        drawing.text(LEFT - 8, y + 4, f"{tick:g}", anchor="end", size=11)
    for tick in _ticks(low_x, high_x):
        x, _ = place(tick, low_y)
        drawing.line(x, bottom, x, bottom + 4, INK)
        drawing.text(x, bottom + 18, f"{tick:,g}", anchor="middle", size=11)
    drawing.text(width - RIGHT, bottom + 34, panel.x_name, anchor="end", size=11)
    _lines(drawing, panel.lines, place, width)


def _lines(drawing: Drawing, lines: Sequence[Line], place: Place, width: int) -> None:
    ends: list[tuple[float, str, str]] = []
    for number, line in enumerate(lines):
        colour = COLOURS[number % len(COLOURS)]
        where = [place(x, y) for x, y in line.points]
        drawing.curve(where, colour, 1.8)
        if len(where) == 1:
            drawing.rect(where[0][0] - 2, where[0][1] - 2, 4, 4, colour)
        if where:
            ends.append((where[-1][1], line.name, colour))
    last = float("-inf")
    for y, name, colour in sorted(ends):
        # Names of lines that end close together are moved apart.
        last = max(y, last + _LABEL)
        drawing.rect(width - RIGHT + 6, last - 2, 8, 4, colour)
        drawing.text(width - RIGHT + 18, last + 4, name, size=11)


def _spread(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low, low + 1.0)


def _ticks(low: float, high: float) -> list[float]:
    """Three to seven round numbers around the range."""
    raw = (high - low) / 5
    power = 10.0 ** floor(log10(raw))
    pitch = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first = floor(low / pitch)
    count = int(-(-(high - first * pitch) // pitch)) + 1
    return [round((first + number) * pitch, 10) for number in range(count)]
