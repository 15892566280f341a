"""What stands at a node of the drawn tree: a sign, who proposed it, the token, and how likely it seemed to whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from medusa_chat.host.messages import StepRecord
from medusa_chat.tui.inspector.fate import Fate, fates
from medusa_chat.tui.inspector.sources import sign_of
from medusa_chat.tui.text import FAINT, MUTED, fitted, showable_piece

Styled = tuple[str, str]

_EIGHTHS = "▁▁▂▃▄▅▆▇█"
NEXT = "→"
"""The token the backbone adds after the path: no guess, the root of the next step."""

SIGNS = {
    Fate.ROOT: ("●", "bold $foreground"),
    Fate.KEPT: ("✓", "bold $accent"),
    Fate.HELD: ("○", "$foreground"),
    Fate.FELL: ("✗", "$error"),
    Fate.UNSEEN: (" ", FAINT),
}
GAINED = ("+", "bold $success")
LOST = ("-", "bold $error")
"""Under other settings; as in a list of changes."""

_TEXTS = {Fate.ROOT: "bold $foreground", Fate.KEPT: "bold $accent", Fate.HELD: "$foreground", Fate.FELL: MUTED}


@dataclass(frozen=True, slots=True)
class Detail:
    """How much a label says."""

    cells: int
    """At most, for the token's text."""
    numbers: bool
    """Probabilities as numbers; otherwise as bars one cell wide."""
    bounds: bool
    """What a fallen guess would have needed, too."""


LEAD = 3
"""Cells before a label's text."""


@dataclass(frozen=True, slots=True)
class Label:
    lead: tuple[Styled, ...]
    """`LEAD` cells."""
    text: Styled
    tail: tuple[Styled, ...]
    pad: str = ""
    """Style of what fills the column."""

    @property
    def tail_cells(self) -> int:
        return sum(cell_len(text) for text, _ in self.tail)

    def parts(self, text_cells: int, tail_cells: int) -> tuple[Styled, ...]:
        """Exactly as wide as its column; the numbers of a column stand below each other."""
        pad = " " * (tail_cells - self.tail_cells)
        return (*self.lead, (fitted(self.text[0], text_cells), self.text[1]), *self.tail, (pad, self.pad))

    def under_cursor(self, style: str) -> Label:
        """The same, in one style."""
        lead, tail = (tuple((text, style) for text, _ in parts) for parts in (self.lead, self.tail))
        return Label(lead, (self.text[0], style), tail, style)


def labels_of(
    step: StepRecord, detail: Detail, follower: str | None, other: Sequence[int] | None = None
) -> list[Label]:
    """One for each node, and one for the token that follows the path (`follower`, where it is known).

    `other` is the path other settings would have kept: what it gains and loses has signs of its own.
    """
    found = fates(step)
    labels = [_node(step, node, fate, detail, other) for node, fate in enumerate(found)]
    return [*labels, _follower(step, detail, follower)]


def chance(probability: float | None) -> str:
    """Three cells."""
    if probability is None:
        return " – "
    return "1.0" if probability >= 0.995 else f"{max(probability, 0.0):.2f}"[1:]


def _node(step: StepRecord, node: int, fate: Fate, detail: Detail, other: Sequence[int] | None) -> Label:
    sign, style = SIGNS[fate], _TEXTS.get(fate, FAINT)
    if other is not None and (node in other) != (node in step.path):
        sign = GAINED if node in other else LOST
        style = sign[1]
    source, hue = sign_of(step.tree.sources[node])
    lead = (sign, (source if node else " ", style if fate is Fate.UNSEEN else hue), (" ", ""))
    believed = None if step.beliefs is None else step.beliefs.probabilities[node]
    tail = _tail((step.tree.scores[node], believed), style, detail) if node else ()
    if detail.bounds:
        needed = next((reason.needed for reason in step.reasons if reason.node == node), None)
        tail += () if needed is None else ((f" <{chance(needed)}", "$error"),)
    return Label(lead, (showable_piece(step.tree.texts[node]), style), tail)


def _follower(step: StepRecord, detail: Detail, text: str | None) -> Label:
    certainty = None
    if step.beliefs is not None and text == step.beliefs.favourites[step.path[-1]]:
        certainty = step.beliefs.certainties[step.path[-1]]
    tail = () if certainty is None else _tail((None, certainty), "$foreground", detail)
    shown = "…" if text is None else showable_piece(text)
    return Label(((NEXT, "bold $foreground"), ("  ", "")), (shown, "$foreground"), tail)


def _tail(chances: tuple[float | None, float | None], style: str, detail: Detail) -> tuple[Styled, ...]:
    """The drafter's, then the backbone's."""
    if detail.numbers:
        return tuple((f" {chance(each)}", style) for each in chances)
    return ((" " + "".join(map(_bar, chances)), style),)


def _bar(probability: float | None) -> str:
    return " " if probability is None else _EIGHTHS[round(8 * min(max(probability, 0.0), 1.0))]
