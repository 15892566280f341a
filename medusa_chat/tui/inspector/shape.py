"""Where the nodes of a tree stand when it is drawn from left to right: a column for each depth, a row for each leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """A first child stands beside its parent, its siblings below it."""

    columns: tuple[int, ...]
    """Of each node: its depth."""
    rows: tuple[int, ...]
    """Of each node."""
    children: tuple[tuple[int, ...], ...]
    """Of each node, in the order they stand."""

    @property
    def width(self) -> int:
        return max(self.columns) + 1

    @property
    def height(self) -> int:
        return max(self.rows) + 1

    def neighbour(self, node: int, down: int, nodes: int) -> int:
        """The next one above (-1) or below (+1) among the first `nodes`: in the same column if there is one, else in
        the next row; at the edge the node itself."""
        column, row = self.columns[node], self.rows[node]
        ahead = [other for other in range(nodes) if (self.rows[other] - row) * down > 0]
        if not ahead:
            return node
        beside = [other for other in ahead if self.columns[other] == column]
        return min(
            beside or ahead, key=lambda other: (abs(self.rows[other] - row), abs(self.columns[other] - column), other)
        )


def shape_of(parents: Sequence[int], worth: Sequence[float], path: Sequence[int]) -> Shape:
    """Of a tree whose nodes stand after their parents.

    The children on `path` come first, so that the path is one straight line; the others by falling `worth`.
    """
    first = frozenset(path)
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents[1:], start=1):
        children[parent].append(node)
    for siblings in children:
        siblings.sort(key=lambda node: (node not in first, -worth[node], node))
    columns = [0] * len(parents)
    rows = [0] * len(parents)
    last, waiting = -1, [(0, 0, False)]
    while waiting:
        node, column, beside = waiting.pop()
        last += not beside
        columns[node], rows[node] = column, last
        waiting += [(child, column + 1, child == children[node][0]) for child in reversed(children[node])]
    return Shape(tuple(columns), tuple(rows), tuple(map(tuple, children)))
