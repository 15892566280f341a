"""A run as a picture: speedups by family, one bar a contestant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from medusa_chat.bench.figures import BASELINE, Figures
from medusa_chat.bench.summary import Summary
from medusa_chat.bench.table import shown
from medusa_chat.pictures.svg import FAINT, INK, Drawing

# Told apart also by people who see few colours: Okabe and Ito's palette without its yellow, and darker ones after it.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#6e7781", "#8f7fd6", "#b5627f", "#44aa99")

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 960, 168, 150, 108, 34
BAR, PITCH, GROUP_GAP = 14, 18, 16
LEGEND_PITCH = 8


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a speedup to a place on the paper."""

    most: float

    def x(self, speedup: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * speedup / self.most

    def ticks(self) -> list[float]:
        pitch = next(pitch for pitch in (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, self.most) if self.most / pitch <= 10)
        return [pitch * number for number in range(int(self.most / pitch) + 1)]


def chart(summaries: Mapping[str, Summary], caption: tuple[str, str]) -> str:
    """The SVG. Bars are speedups over plain decoding, whiskers their 95 % intervals, labels tokens per second.

    Needs plain decoding among the contestants; `caption` says what was measured and where.
    """
    groups = _groups(summaries)
    names = [name for name in summaries if name != BASELINE]
    rows = sum(max(len(names), 2) for _ in groups)
    height = TOP + rows * PITCH + (len(groups) - 1) * GROUP_GAP + BOTTOM
    drawing = Drawing(WIDTH, height, f"Speedup over plain decoding: {', '.join(caption)}")
    drawing.text(16, 28, "Speedup over plain decoding", size=17, bold=True)
    drawing.text(16, 47, caption[0])
    drawing.text(16, 64, f"{caption[1]} · whiskers: 95 % of redrawn sets of questions")
    _legend(drawing, names)
    scale = _Scale(_most(groups))
    _axis(drawing, scale, height - BOTTOM)
    y: float = TOP
    for part, figures in groups.items():
        _group(drawing, scale, y, part, figures)
        y += max(len(names), 2) * PITCH + GROUP_GAP
    return drawing.document()


def _groups(summaries: Mapping[str, Summary]) -> dict[str, dict[str, Figures]]:
    """part -> contestant -> figures; families, or categories where there is but one family, then all."""
    by_family = any(len(summary.families) > 1 for summary in summaries.values())
    parts = {name: summary.families if by_family else summary.categories for name, summary in summaries.items()}
    groups = {part: {name: of_one[part] for name, of_one in parts.items()} for part in next(iter(parts.values()), {})}
    return {**groups, "all": {name: summary.whole for name, summary in summaries.items()}}


def _most(groups: Mapping[str, Mapping[str, Figures]]) -> float:
    highest = [
        max(row.speedup or 0.0, row.speedup_interval[1] if row.speedup_interval else 0.0)
        for figures in groups.values()
        for row in figures.values()
    ]
    return ceil(4 * max(highest, default=1.0) + 0.2) / 4


def _legend(drawing: Drawing, names: Sequence[str]) -> None:
    x = 16.0
    for number, name in enumerate(names):
        drawing.rect(x, 77, 12, 12, _colour(number))
        drawing.text(x + 17, 87, name)
        x += 17 + 7.5 * len(name) + 2 * LEGEND_PITCH


def _axis(drawing: Drawing, scale: _Scale, bottom: float) -> None:
    for tick in scale.ticks():
        drawing.line(scale.x(tick), TOP - 8, scale.x(tick), bottom, FAINT)
        drawing.text(scale.x(tick), bottom + 16, f"{tick:g}", size=11, anchor="middle")
    drawing.line(scale.x(1.0), TOP - 8, scale.x(1.0), bottom, INK, 1.5)


def _group(drawing: Drawing, scale: _Scale, y: float, part: str, figures: Mapping[str, Figures]) -> None:
    drawing.text(16, y + 11, part, size=13, bold=True)
    drawing.text(16, y + 11 + PITCH, f"plain {shown(figures[BASELINE].tokens_per_second, 1)} tokens/s", size=11)
    others = [row for name, row in figures.items() if name != BASELINE]
    for number, row in enumerate(others):
        if row.speedup is not None:
            _bar(drawing, scale, y + number * PITCH, row, row.speedup, _colour(number))


def _bar(drawing: Drawing, scale: _Scale, y: float, row: Figures, speedup: float, colour: str) -> None:
    drawing.rect(LEFT, y, scale.x(speedup) - LEFT, BAR, colour)
    end = scale.x(speedup)
    if row.speedup_interval is not None:
        low, high = (scale.x(bound) for bound in row.speedup_interval)
        middle = y + BAR / 2
        drawing.line(low, middle, high, middle)
        for x in (low, high):
            drawing.line(x, middle - 3, x, middle + 3)
        end = max(end, high)
    label = f"{speedup:.2f} · {shown(row.tokens_per_second, 1)} tokens/s"
    drawing.text(end + 6, y + 11, label, size=11)


def _colour(number: int) -> str:
    return COLOURS[number % len(COLOURS)]
