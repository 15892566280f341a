"""Text cut into rows of a terminal, so that text which only grows is never cut twice."""

from __future__ import annotations

from rich.cells import cell_len


def rows_of(text: str, width: int, start: int = 0) -> list[tuple[int, int]]:
    """(start, end) of every row from `start` on, which must be where a row begins.

    Rows end behind a space where they can, the space itself being left out when it does not fit; each is at most
    `width` cells, but for a character that is wider alone. Where a row begins depends only on what stands before it,
    so rows but the last stay as they are when text is added.
    """
    rows: list[tuple[int, int]] = []
    for line_start, line_end in _lines(text, start):
        begin = line_start
        while (end := _row_end(text, begin, line_end, width)) < line_end:
            rows.append((begin, end))
            begin = end + 1 if text[end] == " " else end
        rows.append((begin, line_end))
    return rows


def _lines(text: str, start: int) -> list[tuple[int, int]]:
    lines = []
    for line in text[start:].split("\n"):
        lines.append((start, start + len(line)))
        start += len(line) + 1
    return lines


def _row_end(text: str, begin: int, limit: int, width: int) -> int:
    """Where a row from `begin` ends: `limit` when the rest fits."""
    cells, behind_space = 0, begin
    for place in range(begin, limit):
        cells += cell_len(text[place])
        if cells > width:
            if text[place] == " " and place > begin:
                return place
            return behind_space if behind_space > begin else max(place, begin + 1)
        if text[place] == " ":
            behind_space = place + 1
    return limit
