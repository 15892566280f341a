"""Where two answers part, and how close a call it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medusa_chat.host.partings import Difference, first_difference

if TYPE_CHECKING:
    from medusa_chat.host.session import Session

NEAR_TIE = {"torch.float32": 1e-3}
NEAR_TIE_LOW_PRECISION = 0.1
"""Logit gaps below which rounding alone may turn a choice: the same row computed in a pass over more rows differs by
about 1e-5 in float32, and by some hundredths in half precision."""


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
    gap = _gap(session, [*prompt_ids, *left[: difference.index]], difference)
    bound = NEAR_TIE.get(str(session.backbone.dtype), NEAR_TIE_LOW_PRECISION)
    one, other = (
        "" if token is None else str(session.tokenizer.decode([token], skip_special_tokens=False))
        for token in difference.tokens
    )
    return Parting(difference.index, difference.tokens, (one, other), gap, gap is not None and abs(gap) <= bound)


def _gap(session: Session, before: Sequence[int], difference: Difference) -> float | None:
    from medusa_chat.engine.logit_gap import logit_gap

    left, right = difference.tokens
    if left is None or right is None:
        return None
    return logit_gap(session.backbone, before, left, right)
