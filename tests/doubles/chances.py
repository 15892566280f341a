"""What sampled answers should look like: warped distributions written out anew, and a test of goodness of fit."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from medusa_chat.engine.options import Sampling

MIN_EXPECTED = 5.0
"""Cells with fewer expected counts are put together, or chi-square would not hold."""


def warped(logits: Tensor, ids: Sequence[int], sampling: Sampling) -> Tensor:
    """[vocab] float64 probabilities of the token after `ids`, straight from the definitions; temperature above 0."""
    scores = logits.double().clone()
    for token in set(ids):
        penalty = sampling.repetition_penalty
        scores[token] = scores[token] / penalty if scores[token] > 0 else scores[token] * penalty
    scores = scores / sampling.temperature
    if sampling.top_k:
        kth = scores.sort(descending=True).values[min(sampling.top_k, len(scores)) - 1]
        scores[scores < kth] = -torch.inf
    if sampling.top_p < 1.0:
        order = scores.argsort(descending=True)
        chances = scores.softmax(0)[order]
        # The smallest set of best tokens whose mass reaches top-p: what is reached before a token decides.
        scores[order[chances.cumsum(0) - chances >= sampling.top_p]] = -torch.inf
    if sampling.min_p > 0.0:
        chances = scores.softmax(0)
        scores[chances < sampling.min_p * chances.max()] = -torch.inf
    return scores.softmax(0)


def enumerated(
    logits_after: Callable[[Sequence[int]], Tensor], prompt: Sequence[int], count: int, sampling: Sampling
) -> dict[tuple[int, ...], float]:
    """Probability of every possible beginning of `count` tokens."""
    beginnings: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(count):
        longer = {}
        for beginning, chance in beginnings.items():
            ids = [*prompt, *beginning]
            for token, share in enumerate(warped(logits_after(ids), ids, sampling).tolist()):
                if share > 0.0:
                    longer[(*beginning, token)] = chance * share
        beginnings = longer
    return beginnings


def fit(observed: Counter[tuple[int, ...]], expected: dict[tuple[int, ...], float]) -> float:
    """p-value of Pearson's chi-square test; 0 when something impossible was observed."""
    total = sum(observed.values())
    if any(outcome not in expected for outcome in observed):
        return 0.0
    cells, rest = [], [0.0, 0.0]
    for outcome, chance in expected.items():
        if chance * total >= MIN_EXPECTED:
            cells.append([observed[outcome], chance * total])
        else:
            rest = [rest[0] + observed[outcome], rest[1] + chance * total]
    if rest[1] >= MIN_EXPECTED:
        cells.append(rest)
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    freedom = torch.tensor((len(cells) - 1) / 2, dtype=torch.float64)
    return float(torch.special.gammaincc(freedom, torch.tensor(statistic / 2, dtype=torch.float64)))


def count_beginnings(answers: Sequence[Sequence[int]], count: int) -> Counter[tuple[int, ...]]:
    return Counter(tuple(itertools.islice(answer, count)) for answer in answers)
