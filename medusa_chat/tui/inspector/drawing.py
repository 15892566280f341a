"""The candidate tree of a step as lines of text: a pure function of the step and of the width there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Region

from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.inspector.label import GAINED, LEAD, Detail, Label, Styled, labels_of
from medusa_chat.tui.inspector.shape import Shape, shape_of
from medusa_chat.tui.text import FAINT, MUTED, fitted

_DETAILS = (Detail(18, True, True), Detail(12, True, False), Detail(9, False, False))
_NUMBERS, _BARS = _DETAILS[1:]
_NUMBERS_FROM = 60
"""Cells from which a tree that does not fit is scrolled rather than said without numbers."""
_GAP = 4
_LIT = "bold $accent"
_CURSOR = "$block-cursor-text-style $block-cursor-foreground on $block-cursor-background"
_CURSOR_LEFT = "bold underline $foreground"
"""While another part of the screen has the focus."""


@dataclass(frozen=True, slots=True)
class Drawing:
    lines: tuple[Content, ...]
    titles: Content
    """A line for above the tree: the depth of each column."""
    boxes: tuple[Region, ...]
    """Where the label of each node stands, in cells; the last one is the token that follows the path."""
    shape: Shape
    """Of the tree with that token as one more node."""
    width: int

    def node_at(self, x: int, y: int) -> int | None:
        return next((node for node, box in enumerate(self.boxes[:-1]) if box.contains(x, y)), None)


@dataclass(frozen=True, slots=True)
class _Column:
    """Cells of the parts that differ from column to column."""

    text: int
    tail: int

    @property
    def width(self) -> int:
        return LEAD + self.text + self.tail


def draw(
    step: StepRecord,
    width: int,
    follower: str | None = None,
    *,
    other: Sequence[int] | None = None,
    cursor: int | None = None,
    focused: bool = True,
) -> Drawing:
    """As wide as the tree needs, saying as much of every node as fits into `width` cells.

    `follower` is the text of the token the backbone added, where it is known; `other` the path other settings would
    have kept; the label of the node `cursor` stands out, the more so while the tree has the focus.
    """
    tree, size = step.tree, len(step.tree.tokens)
    path = (*step.path, size)
    shape = shape_of((*tree.parents, step.path[-1]), (*tree.scores, 1.0), path)
    labels, columns = _fitting(step, shape, width, follower, other)
    starts = [0, *accumulate(column.width + _GAP for column in columns)]
    cells = {(shape.rows[node], shape.columns[node]): node for node in range(size + 1)}
    gaps = _gaps(shape, frozenset(path), frozenset(other or ()).difference(path))
    if cursor is not None:
        labels[cursor] = labels[cursor].under_cursor(_CURSOR if focused else _CURSOR_LEFT)
    lines = [
        Content.assemble(*_line(row, columns, gaps, {c: n for (r, c), n in cells.items() if r == row}, labels))
        for row in range(shape.height)
    ]
    boxes = [
        Region(starts[column], row, columns[column].width, 1)
        for column, row in zip(shape.columns, shape.rows, strict=True)
    ]
    return Drawing(tuple(lines), _titles(columns), tuple(boxes), shape, starts[-1] - _GAP)


def _fitting(
    step: StepRecord, shape: Shape, width: int, follower: str | None, other: Sequence[int] | None
) -> tuple[list[Label], list[_Column]]:
    """The labels that say the most in the width there is; where none fit, those to scroll."""

    def at(detail: Detail) -> tuple[list[Label], list[_Column]]:
        labels = labels_of(step, detail, follower, other)
        return labels, _columns(shape, labels, detail)

    for detail in _DETAILS:
        labels, columns = at(detail)
        if sum(column.width + _GAP for column in columns) - _GAP <= width:
            return labels, columns
    return at(_NUMBERS if width >= _NUMBERS_FROM else _BARS)


def _columns(shape: Shape, labels: Sequence[Label], detail: Detail) -> list[_Column]:
    columns = [_Column(2, 0)] * shape.width
    for label, place in zip(labels, shape.columns, strict=True):
        text = min(max(columns[place].text, cell_len(label.text[0])), detail.cells)
        columns[place] = _Column(text, max(columns[place].tail, label.tail_cells))
    return columns


def _gaps(shape: Shape, lit: frozenset[int], gained: frozenset[int]) -> dict[tuple[int, int], Styled]:
    """The lines between a column and the next one, by (row, column); those to `lit` and `gained` nodes stand out."""
    gaps: dict[tuple[int, int], Styled] = {}
    for node, children in enumerate(shape.children):
        if not children:
            continue
        column, rows = shape.columns[node], [shape.rows[child] for child in children]
        for row in range(rows[0], rows[-1]):
            gaps[row, column] = (" │  ", FAINT)
        for child, row in zip(children[1:], rows[1:], strict=True):
            gaps[row, column] = (" └─ " if row == rows[-1] else " ├─ ", GAINED[1] if child in gained else FAINT)
        bright, more = children[0] in lit, len(children) > 1
        first = " ┯━ " if bright and more else " ━━ " if bright else " ┬─ " if more else " ── "
        gaps[rows[0], column] = (first, _LIT if bright else GAINED[1] if children[0] in gained else FAINT)
    return gaps


def _line(
    row: int,
    columns: Sequence[_Column],
    gaps: Mapping[tuple[int, int], Styled],
    nodes: Mapping[int, int],
    labels: Sequence[Label],
) -> list[Styled]:
    """One row: in each column a label or nothing, and after it a line or nothing."""
    parts: list[Styled] = []
    for place in range(max(nodes) + 1):
        column, node = columns[place], nodes.get(place)
        if node is None:
            parts.append((" " * column.width, ""))
        else:
            parts += labels[node].parts(column.text, column.tail)
        if place < max(nodes):
            parts.append(gaps.get((row, place), (" " * _GAP, "")))
    return parts


def _titles(columns: Sequence[_Column]) -> Content:
    names = ["root", *(f"depth {depth}" for depth in range(1, len(columns)))]
    return Content.assemble(
        *((fitted(name, column.width + _GAP), MUTED) for name, column in zip(names, columns, strict=True))
    )
