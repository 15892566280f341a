"""Curves made of characters: dots of braille for a large one, blocks for one that fits a line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""Bits of a braille character, by row and column of its dots."""


def sampled(steps: Sequence[int], values: Sequence[float], places: int) -> list[float]:
    """The curve at `places` steps that divide the whole evenly, straight between rows; looks at few rows only."""
    if not steps or places < 1:
        return []
    first, last = steps[0], steps[-1]
    return [_at(steps, values, first + (last - first) * place / max(1, places - 1)) for place in range(places)]


def _at(steps: Sequence[int], values: Sequence[float], step: float) -> float:
    after = bisect_right(steps, step)
    if after == len(steps):
        return values[-1]
    left, right = steps[after - 1], steps[after]
    share = (step - left) / (right - left)
    return values[after - 1] * (1 - share) + values[after] * share


def bounds(values: Sequence[float]) -> tuple[float, float]:
    """Lowest and highest, the steep beginning left out, so that the rest is not flat."""
    settled = values[len(values) // 50 :] or values
    low, high = min(settled), max(settled)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def dotted(values: Sequence[float], low: float, high: float, height: int) -> list[str]:
    """Lines of braille, two values a cell; neighbours are joined, and what is out of bounds runs along the edge."""
    rows = 4 * height
    places = [min(rows - 1, max(0, round((rows - 1) * (high - value) / (high - low)))) for value in values]
    cells = [[0] * ((len(values) + 1) // 2) for _ in range(height)]
    for x, y in enumerate(places):
        before = places[x - 1] if x else y
        for dot in range(min(y, before + 1), max(y, before - 1) + 1) if y != before else (y,):
            cells[dot // 4][x // 2] |= _DOTS[dot % 4][x % 2]
    return ["".join(chr(0x2800 + bits) if bits else " " for bits in line) for line in cells]


def blocks(values: Sequence[float], high: float) -> str:
    """One block a value, from 0 to `high`."""
    top = len(BLOCKS) - 1
    return "".join(BLOCKS[min(top, max(0, round(top * value / high)))] if high > 0 else BLOCKS[0] for value in values)
