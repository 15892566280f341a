"""Where two answers part. Free of torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    index: int
    """Of the first token that differs."""
    tokens: tuple[int | None, int | None]
    """What stands there in the one and the other; None where an answer has already ended."""


def first_difference(
    left: Sequence[int], right: Sequence[int], *, cut: tuple[bool, bool] = (False, False)
) -> Difference | None:
    """None when both are the same.

    Args:
        cut: whether the one and the other were cut short: where such an answer stops it has not ended.
    """
    for index, pair in enumerate(zip(left, right, strict=False)):
        if pair[0] != pair[1]:
            return Difference(index, pair)
    index = min(len(left), len(right))
    if len(left) == len(right) or cut[0 if len(left) == index else 1]:
        return None
    return Difference(index, (left[index], None) if len(left) > index else (None, right[index]))
