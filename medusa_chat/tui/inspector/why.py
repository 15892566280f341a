"""Why a node was kept or fell, in a sentence with its numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from medusa_chat.engine.options import Decoding
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import RejectionRecord, StepRecord
from medusa_chat.tui.inspector.fate import Fate
from medusa_chat.tui.inspector.what_if import WhatIf
from medusa_chat.tui.text import showable_piece

_CERTAIN = "Certain before the step: the model chose it at the end of the one before."
_FIRST = "Certain before the step: it is the last token of the prompt."
_CLOSE = 2e-3
"""Traces keep four digits."""


def why(step: StepRecord, node: int, fate: Fate, follower: str | None, decodings: Sequence[Decoding] = ()) -> str:
    """`follower` is the text of the token that came after the path; `decodings` are those the answer was made with."""
    match fate:
        case Fate.ROOT:
            return _CERTAIN if step.index > 1 else _FIRST
        case Fate.KEPT:
            return _why_kept(step, node)
        case Fate.UNSEEN:
            return "Never looked at: a guess before it fell."
        case Fate.HELD:
            return "Likely enough to be kept, but another path was longer, or as long and likelier."
        case Fate.FELL:
            reason = next((each for each in step.reasons if each.node == node), None)
            if reason is not None and reason.needed is not None:
                return _below_bound(reason, reason.needed, decodings)
            return _not_chosen(step, node, follower)


def then(result: WhatIf, node: int) -> str:
    """What would have become of a node under other settings."""
    fallen = next((each for each in result.fallen if each.node == node), None)
    if node in result.path:
        return "Then: kept." if node else "Then: the root all the same."
    if node >= result.nodes:
        return "Then: not drafted, for the budget ends before it."
    if fallen is None:
        return "Then: not on the path."
    if fallen.needed is not None:
        return f"Then: fallen, p {number(fallen.probability)} < {number(fallen.needed)}."
    instead = "" if fallen.instead is None else f", {quoted(fallen.instead)} instead"
    return f"Then: fallen{instead} (p {number(fallen.probability)})."


def _why_kept(step: StepRecord, node: int) -> str:
    if step.beliefs is None:
        return "Kept."
    parent = step.tree.parents[node]
    favourite, chance = step.beliefs.favourites[parent], step.beliefs.probabilities[node]
    if favourite == step.tree.texts[node]:
        return f"Kept: the model's likeliest token here ({number(chance)})."
    certainty = step.beliefs.certainties[parent]
    return f"Kept at {number(chance)}, though {quoted(favourite)} was likelier ({number(certainty)})."


def _below_bound(reason: RejectionRecord, needed: float, decodings: Sequence[Decoding]) -> str:
    below = f"p {number(reason.probability)} < {number(needed)}"
    if reason.entropy is None:
        return f"Fell: {below}, the threshold."
    for decoding in decodings:
        by_entropy = decoding.delta * math.exp(-reason.entropy)
        if decoding.rule == "typical" and math.isclose(min(decoding.epsilon, by_entropy), needed, rel_tol=_CLOSE):
            bound = f"min(epsilon {decoding.epsilon:g}, delta {decoding.delta:g} · exp(-entropy {reason.entropy:.2f}))"
            return f"Fell: {below} = {bound}."
    return f"Fell: {below}, what an entropy of {reason.entropy:.2f} asks for."


def _not_chosen(step: StepRecord, node: int, follower: str | None) -> str:
    parent = step.tree.parents[node]
    kept = next((each for each in step.path if step.tree.parents[each] == parent), None)
    chosen = follower if kept is None else step.tree.texts[kept]
    if chosen is None:
        return "Fell: the model chose another token."
    chance = None
    if step.beliefs is not None:
        if kept is not None:
            chance = step.beliefs.probabilities[kept]
        elif chosen == step.beliefs.favourites[parent]:
            chance = step.beliefs.certainties[parent]
    return f"Fell: the model's choice was {quoted(chosen)}{'' if chance is None else f' ({number(chance)})'}."


def number(probability: float) -> str:
    """With two digits that count; small ones are what reasons are about."""
    if probability >= 0.995:
        return f"{probability:.3f}"
    return (
        f"{probability:.2f}"
        if probability >= 0.1
        else f"{probability:.3f}"
        if probability >= 0.001
        else f"{probability:.0e}"
    )


def quoted(piece: str) -> str:
    shown = showable_piece(harmless(piece))
    return f"“{shown if len(shown) <= 24 else shown[:23] + '…'}”"
