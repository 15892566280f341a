"""Marked text in rows of a width, wrapped at words as running text is. What is added costs its own length alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import split_graphemes

from medusa_chat.engine.text.harmless import harmless

_TAB = "    "
_JOINER = "\N{ZERO WIDTH JOINER}"


@dataclass(frozen=True, slots=True)
class Sign:
    """What stands in one place of a row: a character with all that combines with it."""

    text: str
    cells: int
    kind: str
    """How its last character was won: a sign may be put together by several tokens."""


class TokenRows:
    """Grows at its end. Widths are the terminal's: counted in cells, a joined emoji as one sign."""

    def __init__(self, width: int) -> None:
        self.width = max(width, 2)
        self.rows: list[list[Sign]] = [[]]
        """Spaces beyond the end of a row are in none."""
        self._cells = 0
        """Of the last row."""
        self._break = 0
        """Signs of the last row before the newest place where it may be broken; 0 for none."""

    def add(self, text: str, kind: str) -> None:
        """More text, all of it won in the same way."""
        for number, line in enumerate(harmless(text).replace("\t", _TAB).split("\n")):
            if number:
                self._start([])
            if line:
                self._add_line(line, kind)

    def _add_line(self, line: str, kind: str) -> None:
        row = self.rows[-1]
        if row and _combine(row[-1].text, line[0]):
            last = row.pop()
            self._cells -= last.cells
            self._break = min(self._break, len(row))
            line = last.text + line
        for text, cells in _signs(line):
            self._put(Sign(text, cells, kind))

    def _put(self, sign: Sign) -> None:
        if self._cells + sign.cells > self.width and sign.text == " ":
            self._break = len(self.rows[-1])
            return
        while self._cells + sign.cells > self.width:
            self._wrap()
        self.rows[-1].append(sign)
        self._cells += sign.cells
        if sign.text == " " or sign.cells > 1:
            self._break = len(self.rows[-1])

    def _wrap(self) -> None:
        """What stands behind the last break goes to a row of its own; without a break the row ends here."""
        row = self.rows[-1]
        place = self._break or len(row)
        rest = row[place:]
        del row[place:]
        self._start(rest)

    def _start(self, row: list[Sign]) -> None:
        self.rows.append(row)
        self._cells = sum(sign.cells for sign in row)
        self._break = 0


def _combine(before: str, char: str) -> bool:
    """Whether a character becomes part of the sign before it."""
    if char.isascii() and not before.endswith(_JOINER):
        return False
    return len(split_graphemes(before + char)[0]) == 1


def _signs(line: str) -> Iterator[tuple[str, int]]:
    """(sign, its cells)."""
    if line.isascii():
        yield from ((char, 1) for char in line)
    else:
        yield from ((line[start:end], cells) for start, end, cells in split_graphemes(line)[0])
