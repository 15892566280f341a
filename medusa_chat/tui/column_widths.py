"""How the columns of a table share the width there is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

_LEAST = 6
"""Cells of a column that needs as many; with fewer, hardly a word stays whole."""
_LONGEST_WORD = 16
"""Cells; what is longer is an address or the like, which may as well be broken."""


def column_widths(needed: Sequence[int], words: Sequence[int], room: int) -> list[int] | None:
    """Cells of each column of a table that is wider than there is room; None where they would be too few.

    Args:
        needed: Cells of each column's widest cell.
        words: Of each column's longest word.
        room: Of all columns together.
    """
    least = [min(cells, _LEAST) for cells in needed]
    if sum(least) > room:
        return None
    whole = [max(few, min(word, _LONGEST_WORD)) for few, word in zip(least, words, strict=True)]
    return _shared(whole, least, room) if sum(whole) > room else _shared(needed, whole, room)


def _shared(needed: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """All the room: columns have what they need up to an equal share, and in any case the least they need."""

    def up_to(share: int) -> list[int]:
        return [max(few, min(cells, share)) for cells, few in zip(needed, least, strict=True)]

    share = bisect_right(range(room + 1), room, key=lambda share: sum(up_to(share))) - 1
    widths = up_to(share)
    left = room - sum(widths)
    wanting = [column for column, cells in enumerate(needed) if cells > widths[column] == share]
    for column in wanting[:left]:
        widths[column] += 1
    return widths
