"""Tables in the width there is: columns share it and wrap their cells; where it is too narrow for columns, the cells of a
row stand below each other, each behind the head of its column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from textual.content import Content

from medusa_chat.tui.column_widths import column_widths
from medusa_chat.tui.hanging import Line, Piece, hung, under
from medusa_chat.tui.text import FAINT

_GAP = 2
"""Cells between two columns."""
_INDENT = "  "
_NARROWEST = 8
"""Cells; where a table has fewer, its lines are wrapped as any others."""
_HEAD, _RULE, _FIRST = 0, 1, 2
"""Numbers of rows."""
_STYLES = {_HEAD: "bold", _RULE: FAINT}


class Table:
    """What its lines must know of each other."""

    def __init__(self, rows: Sequence[Sequence[Content]], alignments: Sequence[str]) -> None:
        """
        Args:
            rows: The head and what is below it, all of the same length.
            alignments: "left", "center" or "right", of each column.
        """
        self.alignments = alignments
        columns = [[cell.cell_length for cell in column] for column in zip(*rows, strict=True)]
        self.needed = [max(column) for column in columns]
        self._below_head = [max(column[1:], default=0) for column in columns]
        self.rows = [rows[0], [Content("─" * cells) for cells in self.needed], *rows[1:]]
        self.leads: list[str] = []
        """Of the lines so far."""
        self._widths: tuple[int, list[int] | None] = (-1, None)

    def next_line(self, lead: str) -> Line:
        """A line for each of the rows. It holds the cells as they stand in the whole table: so they are copied."""
        self.leads.append(lead)
        return _Row(lead, self, len(self.leads) - 1)

    def widths(self, room: int) -> list[int] | None:
        """Cells of each column, None where that would be too few."""
        if self._widths[0] != room:
            self._widths = room, self._share(room - _GAP * (len(self.needed) - 1))
        return self._widths[1]

    def is_apart(self, widths: Sequence[int]) -> bool:
        """Whether some row below the head takes several rows of the screen, so that all need a gap between them."""
        return any(cells > width for cells, width in zip(self._below_head, widths, strict=True))

    def _share(self, room: int) -> list[int] | None:
        if sum(self.needed) <= room:
            return self.needed
        columns = zip(self.rows[_HEAD], *self.rows[_FIRST:], strict=True)
        words = [max((cell_len(word) for cell in cells for word in cell.plain.split()), default=0) for cells in columns]
        return column_widths(self.needed, words, room)


class _Row(Line):
    """A row of a table, which may take several rows of the screen."""

    __slots__ = ("_cells", "_number", "_starts", "_table")

    def __init__(self, lead: str, table: Table, number: int) -> None:
        self._table, self._number, self._cells = table, number, table.rows[number]
        parts, self._starts, place = [], list[int](), len(lead)
        for cell, width, alignment in zip(self._cells, table.needed, table.alignments, strict=True):
            before, behind = _padding(width - cell.cell_length, alignment)
            parts.append(cell.pad(before, behind))
            self._starts.append(place + before)
            place += before + len(cell) + behind + _GAP
        super().__init__(lead, Content(" " * _GAP).join(parts).stylize(_STYLES.get(number, "")))

    def rows(self, width: int) -> Iterator[Sequence[Piece]]:
        room = width - len(self.lead)
        widths = self._table.widths(room)
        if widths == self._table.needed or room < _NARROWEST or self.beside(width) < len(self.lead):
            yield from super().rows(width)
        elif widths is not None:
            yield from self._side_by_side(widths)
        else:
            yield from self._below_each_other(room)

    def _side_by_side(self, widths: Sequence[int]) -> Iterator[Sequence[Piece]]:
        text = self.lead + self.text.plain
        columns = [
            [(start + piece.start, start + piece.end) for (piece,) in hung(cell.plain, 0, width, "")]
            if self._number != _RULE
            else [(start, start + width)]
            for cell, start, width in zip(self._cells, self._starts, widths, strict=True)
        ]
        for number in range(max(map(len, columns))):
            places = [column[number] if number < len(column) else (column[-1][1],) * 2 for column in columns]
            row = [Piece(under(self.lead), places[0][0], places[0][0]) if number else Piece("", 0, len(self.lead))]
            space = 0
            for (start, end), width, alignment in zip(places, widths, self._table.alignments, strict=True):
                before, behind = _padding(width - cell_len(text[start:end]), alignment)
                row.append(Piece(" " * (space + before), start, end))
                space = behind + _GAP
            yield row
        if self._table.is_apart(widths):
            yield from self._gap()

    def _below_each_other(self, room: int) -> Iterator[Sequence[Piece]]:
        """Of the head nothing, unless there is nothing else."""
        alone = len(self._table.rows) == _FIRST
        if self._number == _RULE or (self._number == _HEAD and not alone):
            return
        before = self.lead if alone else under(self.lead) if self._number > _FIRST else self._table.leads[_HEAD]
        for head, cell, start in zip(self._table.rows[_HEAD], self._cells, self._starts, strict=True):
            name = f"{head.plain}: " if head and not alone else ""
            for (piece,) in hung(name + cell.plain, 0, room - len(_INDENT), ""):
                begin, end = (start + max(place - len(name), 0) for place in (piece.start, piece.end))
                yield Piece(before, begin, begin), Piece(name[piece.start : piece.end], begin, end)
                before = under(self.lead) + _INDENT
            before = under(self.lead)
        yield from self._gap()

    def _gap(self) -> Iterator[Sequence[Piece]]:
        """Below a row that is neither the head nor the last."""
        if _FIRST <= self._number < len(self._table.rows) - 1:
            yield (Piece(under(self.lead), len(self), len(self)),)


def _padding(cells: int, alignment: str) -> tuple[int, int]:
    """Before and behind what takes that many cells less than its column."""
    before = {"right": cells, "center": cells // 2}.get(alignment, 0)
    return before, cells - before
