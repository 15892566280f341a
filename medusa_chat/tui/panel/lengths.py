"""Accepted length per step: how it went (sparkline) and how it spreads (histogram)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.widget import Widget

from medusa_chat.tui.text import MUTED
from medusa_chat.tui.turn import Turn

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def sparkline(lengths: Sequence[int], width: int, top: int, rows: int = 1) -> list[str]:
    """The last `width` accepted lengths as columns, newest at the right, `rows` lines from top to bottom.

    The scale is fixed (0 to `top`), so that an even run of short steps does not look like an even run of long ones.
    """
    shown = list(lengths)[-width:] if width > 0 else []
    units = [max(1, round(8 * rows * min(length, top) / max(top, 1))) for length in shown]
    return ["".join(_EIGHTHS[min(8, max(0, unit - 8 * row))] for unit in units) for row in reversed(range(rows))]


def bar(share: float, width: int) -> str:
    """A horizontal bar of `width` cells at share 1, in halves of a cell."""
    halves = round(2 * width * min(max(share, 0.0), 1.0))
    return ("━" * (halves // 2) + "╸" * (halves % 2)).ljust(width)


def histogram(lengths: Mapping[int, int], width: int, rows: int) -> list[tuple[str, str, str]]:
    """(length, bar, share) for 1 to `rows`; the last row gathers everything longer."""
    steps = sum(lengths.values())
    counts = {row: lengths.get(row, 0) for row in range(1, rows)}
    counts[rows] = sum(count for length, count in lengths.items() if length >= rows)
    most = max(counts.values())
    beyond = "+" if any(length > rows for length in lengths) else " "
    return [
        (
            f"{row}{beyond if row == rows else ' '}",
            bar(count / most, width) if most else " " * width,
            f"{100 * count / steps:3.0f} %" if steps else "",
        )
        for row, count in counts.items()
    ]


class Sparkline(Widget):
    """Two lines high, as wide as the panel."""

    _turn: Turn | None = None
    _top: int = 5

    def show(self, turn: Turn | None, top: int) -> None:
        self._turn, self._top = turn, top
        self.refresh()

    def render(self) -> Content:
        lengths = self._turn.lengths if self._turn is not None else ()
        lines = sparkline(list(lengths), self.size.width, self._top, self.size.height)
        return Content.styled("\n".join(lines), "$primary")


class Histogram(Widget):
    """One line for each accepted length."""

    _turn: Turn | None = None
    _rows: int = 5

    def show(self, turn: Turn | None, rows: int) -> None:
        self._turn = turn
        if rows != self._rows:
            self._rows = rows
            self.refresh(layout=True)
        self.refresh()

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return self._rows

    def render(self) -> Content:
        lengths = self._turn.tally.lengths if self._turn is not None else {}
        lines = [
            Content.assemble((label + " ", MUTED), (cells, "$primary"), (" " + share, MUTED))
            for label, cells, share in histogram(lengths, max(4, self.size.width - 9), self._rows)
        ]
        return Content("\n").join(lines)
