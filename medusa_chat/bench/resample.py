"""How far a figure is to be trusted: the bootstrap. Questions are drawn with replacement, always the same draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

RESAMPLES = 1000
COVERAGE = 0.95

_BLOCK_VALUES = 2_000_000

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure and the interval it lies in for 95 % of redrawn sets of questions."""

    value: float
    interval: Interval


def interval(questions: int, statistic: Callable[[Tensor], Tensor], values: int = 1) -> Interval | None:
    """Of a statistic over redrawn questions; None where no draw gives a number.

    Args:
        questions: how many there are.
        statistic: from [draws, questions] int64, question indices, to [draws] floats.
        values: the most values a question has; bounds the memory a block of draws takes.
    """
    generator = torch.Generator().manual_seed(0)
    block = max(1, min(RESAMPLES, _BLOCK_VALUES // max(1, questions * values)))
    found = []
    for start in range(0, RESAMPLES, block):
        shape = (min(block, RESAMPLES - start), questions)
        found.append(statistic(torch.randint(questions, shape, generator=generator)))
    drawn = torch.cat(found)
    drawn = drawn[drawn.isfinite()].sort().values
    if not len(drawn):
        return None
    tail = (1.0 - COVERAGE) / 2.0
    return float(drawn[int(tail * len(drawn))]), float(drawn[int((1.0 - tail) * len(drawn))])


def quantile(values: Sequence[Sequence[float]], share: float) -> Spread | None:
    """Of all values together; those of one question (an inner sequence) are always drawn together."""
    kept = [question for question in values if question]
    if not kept:
        return None
    most = max(len(question) for question in kept)
    nan = float("nan")
    table = torch.tensor([[*question, *[nan] * (most - len(question))] for question in kept], dtype=torch.float64)
    spread = interval(len(kept), lambda picks: table[picks].flatten(1).nanquantile(share, dim=1), most)
    assert spread is not None
    return Spread(float(table.nanquantile(share)), spread)


def ratio_interval(*ratios: tuple[Sequence[float], Sequence[float]]) -> Interval | None:
    """Of the first ratio of sums over the next one, if there is one; each is given by its terms, one a question."""
    terms = torch.tensor(ratios, dtype=torch.float64)

    def statistic(picks: Tensor) -> Tensor:
        sums = terms[:, :, picks].sum(dim=-1)
        quotients = sums[:, 0] / sums[:, 1]
        return quotients[0] / quotients[1:].prod(dim=0)

    return interval(terms.shape[-1], statistic, 2 * len(ratios))
