"""The candidate tree of a step: what was guessed, how likely it seemed, and which path survived."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widget import Widget

from medusa_chat.host.messages import StepRecord, TreeRecord
from medusa_chat.tui.panel.lengths import bar
from medusa_chat.tui.text import FAINT, MUTED, fitted, showable_piece

ACCEPTED = "✓"
"""The second sign of an accepted node, beside its colour and weight."""

ROOT = "●"

_BAR = 6


@dataclass(frozen=True, slots=True)
class Row:
    """A node ready to draw."""

    node: int
    guides: str
    text: str
    score: float
    accepted: bool


def tree_rows(tree: TreeRecord, path: Sequence[int], rows: int) -> list[Row]:
    """At most `rows` nodes in reading order (a node, then what follows it).

    Where there are more, the accepted path stays and then the likeliest nodes: a node is never likelier than its
    parent (the product of probabilities along the way falls), so what stays is a tree again.
    """
    likely = _path_probabilities(tree)
    kept = set(path)
    order = sorted(range(len(tree.tokens)), key=lambda node: (node not in kept, -likely[node], node))
    chosen = set(order[: max(rows, 0)])
    children: list[list[int]] = [[] for _ in tree.tokens]
    for node in sorted(chosen):
        if node:
            children[tree.parents[node]].append(node)
    drawn: list[Row] = []

    def draw(node: int, guides: str, branch: str) -> None:
        drawn.append(Row(node, guides + branch, showable_piece(tree.texts[node]), tree.scores[node], node in kept))
        below = guides + {"": "", "├─": "│ ", "└─": "  "}[branch]
        for child in children[node]:
            draw(child, below, "└─" if child == children[node][-1] else "├─")

    if 0 in chosen:
        draw(0, "", "")
    return drawn


def _path_probabilities(tree: TreeRecord) -> list[float]:
    likely: list[float] = []
    for parent, score in zip(tree.parents, tree.scores, strict=True):
        likely.append(score * likely[parent] if parent >= 0 else 1.0)
    return likely


def drawn_tree(step: StepRecord, width: int, height: int) -> Content:
    """The tree in `height` lines of `width` cells; a last line counts what did not fit."""
    size = len(step.tree.tokens)
    rows = tree_rows(step.tree, step.path, height if size <= height else height - 1)
    lines = [_line(row, width) for row in rows]
    if len(rows) < size:
        lines.append(Content.styled(f"  … {size - len(rows)} less likely", MUTED))
    return Content("\n").join(lines)


def _line(row: Row, width: int) -> Content:
    mark = f"{ROOT} " if row.node == 0 else f"{ACCEPTED} " if row.accepted else "  "
    label = fitted(row.text, max(3, width - len(row.guides) - len(mark) - _BAR - 6))
    if row.node == 0:
        tail = Content.styled("root".rjust(_BAR + 6), MUTED)
    else:
        tail = Content.assemble(
            (f" {row.score:.2f} ", "$foreground" if row.accepted else MUTED),
            (bar(row.score, _BAR), "$accent" if row.accepted else MUTED),
        )
    return Content.assemble(
        (row.guides, FAINT),
        (mark, "bold $accent"),
        (label, "bold $accent" if row.accepted else MUTED),
        tail,
    )


class TreeView(Widget):
    """Draws the newest step handed to it."""

    _step: StepRecord | None = None

    def show(self, step: StepRecord | None) -> None:
        if step is not self._step:
            self._step = step
            self.refresh()

    def render(self) -> Content:
        if self._step is None:
            return Content.styled("Each step's guesses appear here.", MUTED)
        return drawn_tree(self._step, self.size.width, self.size.height)
