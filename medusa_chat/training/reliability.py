"""What a head's probability is worth: a rising map from what it says to how often it is right."""

from __future__ import annotations

import torch
from torch import Tensor

from medusa_chat.engine.shapes.calibration import Reliability
from medusa_chat.training.guess_table import GuessTable

KNOTS = 20


def reliability(table: GuessTable, head: int) -> Reliability:
    """Of head `head` (from 0), among the rows where the heads before it guessed right within their ranks.

    Only there can a node of this depth be accepted, and there heads are right more often than elsewhere.
    """
    ranks = table.ranks
    reachable = ((ranks[:, :head] >= 0) & (ranks[:, :head] < table.width)).all(dim=1) & (ranks[:, head] >= 0)
    said = table.probabilities[reachable, head].flatten()
    right = (torch.arange(table.width) == ranks[reachable, head][:, None]).flatten().float()
    return fit(said, right)


def fit(said: Tensor, right: Tensor, knots: int = KNOTS) -> Reliability:
    """Isotonic map through at most `knots` points.

    Args:
        said: [n] probabilities.
        right: [n] 1 where the guess was right, 0 where not.
    """
    if not len(said):
        return Reliability((1.0,), (1.0,))
    values, which = said.double().unique(return_inverse=True)  # type: ignore[no-untyped-call]
    count = torch.zeros_like(values).index_add_(0, which, torch.ones_like(which, dtype=torch.float64))
    correct = torch.zeros_like(values).index_add_(0, which, right.double())
    # Bins of equal summed probability: guesses above 0.1 decide trees, but most guesses lie far below.
    share = (values * count).cumsum(0) / (values * count).sum().clamp(min=1e-12)
    bins = (share * knots).clamp(max=knots - 1).long()
    weight = torch.zeros(knots, dtype=torch.float64).index_add_(0, bins, count)
    raw = torch.zeros(knots, dtype=torch.float64).index_add_(0, bins, values * count)
    hits = torch.zeros(knots, dtype=torch.float64).index_add_(0, bins, correct)
    filled = weight > 0
    points = list(
        zip(
            (raw[filled] / weight[filled]).tolist(),
            (hits[filled] / weight[filled]).tolist(),
            weight[filled].tolist(),
            strict=True,
        )
    )
    return _rising(points)


def _rising(points: list[tuple[float, float, float]]) -> Reliability:
    """Pool adjacent violators: (raw, observed, weight) with `raw` rising becomes a map that never falls."""
    pools: list[list[tuple[float, float, float]]] = []
    for point in points:
        pools.append([point])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    curve: dict[float, float] = {}
    for pool in pools:
        # Both ends of a pool are kept, so that the map is flat inside it and straight between pools.
        for raw in (pool[0][0], pool[-1][0]):
            curve[round(raw, 6)] = round(_mean(pool), 6)
    return Reliability(tuple(curve), tuple(curve.values()))


def _mean(pool: list[tuple[float, float, float]]) -> float:
    return sum(observed * weight for _, observed, weight in pool) / sum(weight for _, _, weight in pool)
