"""Where two answers part, and how close a call it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from medusa_chat.engine.backbone import Backbone
    from medusa_chat.host.session import Session

NEAR_TIE = {"torch.float32": 1e-3}
NEAR_TIE_LOW_PRECISION = 0.1
"""Logit gaps below which rounding alone may turn a choice: the same row computed in a pass over more rows differs by
about 1e-5 in float32, and by some hundredths in half precision."""


@dataclass(frozen=True, slots=True)
class Difference:
    index: int
    """Of the first token that differs."""
    tokens: tuple[int | None, int | None]
    """What stands there in the one and the other; None where an answer has already ended."""


def first_difference(left: Sequence[int], right: Sequence[int]) -> Difference | None:
    """None when both are the same."""
    for index, pair in enumerate(zip(left, right, strict=False)):
        if pair[0] != pair[1]:
            return Difference(index, pair)
    if len(left) == len(right):
        return None
    index = min(len(left), len(right))
    longer = left if len(left) > index else right
    return Difference(index, (longer[index], None) if longer is left else (None, longer[index]))


@dataclass(frozen=True, slots=True)
class Parting:
    """A difference, as people want to see it."""

    index: int
    tokens: tuple[int | None, int | None]
    texts: tuple[str, str]
    """Of the two tokens; "" for None."""
    logit_gap: float | None
    """The backbone's logit of the one token minus that of the other; None where an answer has already ended."""
    near_tie: bool
    """True when rounding can explain the difference."""


def part(session: Session, prompt_ids: Sequence[int], left: Sequence[int], right: Sequence[int]) -> Parting | None:
    """Where two answers to one prompt part; None when they are the same. Runs the backbone once."""
    difference = first_difference(left, right)
    if difference is None:
        return None
    gap = _logit_gap(session.backbone, [*prompt_ids, *left[: difference.index]], difference)
    bound = NEAR_TIE.get(str(session.backbone.dtype), NEAR_TIE_LOW_PRECISION)
    one, other = (
        "" if token is None else str(session.tokenizer.decode([token], skip_special_tokens=False))
        for token in difference.tokens
    )
    return Parting(difference.index, difference.tokens, (one, other), gap, gap is not None and abs(gap) <= bound)


def _logit_gap(backbone: Backbone, before: Sequence[int], difference: Difference) -> float | None:
    from medusa_chat.engine.decode import read_prompt
    from medusa_chat.engine.tree import CandidateTree

    left, right = difference.tokens
    if left is None or right is None:
        return None
    read_prompt(backbone, before)
    logits = backbone.verify(CandidateTree.root_only(before[-1])).logits[0]
    return float(logits[left] - logits[right])
