"""One row a lane: its bar in the race and its figures, in columns that compare at a glance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from medusa_chat.host.messages import Lane
from medusa_chat.tui.compare.race import FLAG, Bar, race
from medusa_chat.tui.compare.state import Comparison, LaneRun
from medusa_chat.tui.compare.verdict import cells
from medusa_chat.tui.panel.lengths import bar
from medusa_chat.tui.text import FAINT, MUTED, fitted

LANE_COLORS = ("$secondary", "$primary", "$accent")
_MARK = "┿"
"""Where a lane was when the first one was done."""
_ROOMY, _SPARE = 100, 70
_LONGEST_NAME, _LONGEST_NARROW_NAME = 14, 9
_NARROWEST_COLUMN = 6
_HEADINGS = {
    _ROOMY: ("tokens", "seconds", "tokens/s", "tokens/step", "overhead", "speedup"),
    _SPARE: ("tokens", "seconds", "tok/s", "tok/step", "overhead", "speedup"),
    0: ("tokens", "", "tok/s", "", "", "speedup"),
}
"""By the width there must be; a column without a name is left out."""


class Scoreboard(Static):
    """Drawn anew whenever it is told to."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)

    def show(self, comparison: Comparison | None, lanes: Sequence[Lane]) -> None:
        shown = scoreboard(comparison, lanes, self.size.width)
        self.update(shown, layout=len(shown.split("\n")) != self.size.height)


@dataclass(frozen=True, slots=True)
class _Widths:
    """Of one row: name, bar, flag and the figures' columns, with `gap` before each."""

    name: int
    bar: int
    columns: tuple[tuple[int, str, int], ...]
    """Place among the figures, heading, cells."""
    gap: str

    @classmethod
    def of(cls, names: Iterable[str], width: int) -> _Widths:
        name = min(max(map(cell_len, names)), _LONGEST_NAME if width >= _SPARE else _LONGEST_NARROW_NAME)
        headings = next(headings for least, headings in _HEADINGS.items() if width >= least)
        columns = tuple(
            (place, heading, max(len(heading), _NARROWEST_COLUMN)) for place, heading in enumerate(headings) if heading
        )
        gap = "  " if width >= _ROOMY else " "
        figures = sum(len(gap) + cells for _, _, cells in columns)
        return cls(name, max(4, width - name - len(f" {FLAG} ") - figures), columns, gap)


def scoreboard(comparison: Comparison | None, lanes: Sequence[Lane], width: int) -> Content:
    """A heading, and a row for each lane of the comparison; before there is one, the names of those chosen."""
    shown = comparison.lanes if comparison is not None else lanes
    names = [f"{number} {lane.name}" for number, lane in enumerate(shown, start=1)]
    widths = _Widths.of(names, width)
    if comparison is None:
        blank = Content.styled(" " * width, MUTED)
        rows = [_row(name, color, Bar(0.0), None, widths) for name, color in zip(names, LANE_COLORS, strict=False)]
        return Content("\n").join([blank, *rows])
    current = race(comparison)
    rows = [
        _row(name, color, drawn, run, widths)
        for name, color, drawn, run in zip(names, LANE_COLORS, current.bars, comparison.runs, strict=False)
    ]
    return Content("\n").join([_heading(current.scale, widths), *rows])


def _heading(scale: str, widths: _Widths) -> Content:
    """Says what the bars mean, where there is room for it."""
    room = widths.bar + len(f" {FLAG}")
    left = " " * (widths.name + 1) + fitted(scale if cell_len(scale) <= room else "", room)
    right = "".join(widths.gap + heading.rjust(cells) for _, heading, cells in widths.columns)
    return Content.styled(left + right, MUTED)


def _row(name: str, color: str, drawn: Bar, run: LaneRun | None, widths: _Widths) -> Content:
    flag = FLAG if run is not None and run.finished else " "
    return Content.assemble(
        (f"{fitted(name, widths.name)} ", f"bold {color}"),
        *_bar(drawn, widths.bar, color),
        (f" {flag}", f"bold {color}"),
        *(_figures(run, widths) if run is not None else ()),
    )


def _bar(drawn: Bar, width: int, color: str) -> list[tuple[str, str]]:
    """Thick as far as the lane is, thin beyond."""
    filled = bar(drawn.filled, width).rstrip()
    if drawn.mark is not None:
        place = min(round(drawn.mark * width), len(filled) - 1)
        filled = filled[:place] + _MARK + filled[place + 1 :]
    return [(filled, color), ("─" * (width - len(filled)), FAINT)]


def _figures(run: LaneRun, widths: _Widths) -> Iterable[tuple[str, str]]:
    """What the others are for, the speedup, stands out."""
    _, *figures, _ = cells(run)
    for place, heading, cells_ in widths.columns:
        yield widths.gap + figures[place].rjust(cells_), "bold $foreground" if heading == "speedup" else "$foreground"
