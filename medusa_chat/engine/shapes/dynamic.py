"""The best N nodes for this very step: highest product of calibrated head probabilities first."""

from __future__ import annotations

import heapq

import torch
from torch import Tensor

from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.shapes.calibration import Calibration, Reliability
from medusa_chat.engine.tree import CandidateTree


class DynamicShape:
    """Best-first search over "next sibling" and "first child".

    A node's worth is the product of probabilities along its path. Worth never rises along either move, so the first
    N nodes popped are exactly the N best, and each one's parent comes before it. Heads are independent given the
    hidden state, hence no further forward pass is needed.
    """

    def __init__(self, calibration: Calibration | None = None) -> None:
        """Without a calibration the heads' own probabilities are taken at their word."""
        self._curves = [] if calibration is None else [_Curve(curve) for curve in calibration.reliability]

    def build(self, root: int, guesses: Guesses, budget: int) -> CandidateTree:
        ids = guesses.tokens.tolist()
        chances = [self._calibrated(head, row).tolist() for head, row in enumerate(guesses.probabilities)]
        heads, top_k = len(ids), len(ids[0]) if ids else 0
        tokens, parents, scores = [root], [-1], [1.0]
        # Entries: (-worth, order, worth of the parent, parent's node, depth, rank); order breaks ties first in.
        frontier = [(-chances[0][0], 0, 1.0, 0, 0, 0)] if heads and top_k else []
        order = 1
        while frontier and len(tokens) < budget:
            worth, _, above, parent, depth, rank = heapq.heappop(frontier)
            node = len(tokens)
            tokens.append(ids[depth][rank])
            parents.append(parent)
            scores.append(chances[depth][rank])
            if rank + 1 < top_k:
                sibling = -above * chances[depth][rank + 1]
                heapq.heappush(frontier, (sibling, order, above, parent, depth, rank + 1))
            if depth + 1 < heads:
                child = worth * chances[depth + 1][0]
                heapq.heappush(frontier, (child, order + 1, -worth, node, depth + 1, 0))
            order += 2
        return CandidateTree.build(tokens, parents, scores)

    def _calibrated(self, head: int, probabilities: Tensor) -> Tensor:
        return self._curves[head](probabilities) if head < len(self._curves) else probabilities


class _Curve:
    """Piecewise linear interpolation of a `Reliability`, flat beyond its ends."""

    def __init__(self, reliability: Reliability) -> None:
        self._raw = torch.tensor(reliability.raw, dtype=torch.float32)
        self._observed = torch.tensor(reliability.observed, dtype=torch.float32)

    def __call__(self, probabilities: Tensor) -> Tensor:
        if len(self._raw) == 1:
            return self._observed.expand_as(probabilities)
        left = (torch.searchsorted(self._raw, probabilities, right=True) - 1).clamp(0, len(self._raw) - 2)
        span = self._raw[left + 1] - self._raw[left]
        share = ((probabilities - self._raw[left]) / span).clamp(0.0, 1.0)
        return torch.lerp(self._observed[left], self._observed[left + 1], share)
