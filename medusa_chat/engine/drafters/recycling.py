"""Token recycling: what the backbone held likely after a token the last time it read one.

The idea is Token Recycling (Luo et al. 2024, arXiv 2408.08696): verified rows know the likeliest successors of their
tokens; most of that goes unused and is worth keeping for the next time the token stands somewhere.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from medusa_chat.engine.drafters.rates import Rates

MOST = 4
"""Successors kept of each token; later ones came next less than twice in a hundred times."""
WINDOW = 4.0
"""Logits below the best one that are still worth keeping: a fiftieth of its probability."""

# Probability that a successor comes next, measured on held-out answers of the default model. First by its lead over
# the second, in logits (under 1, under 2, under `WINDOW`, more); the second by what it lacks (under 1, more); third; fourth.
_PRIORS = (0.25, 0.32, 0.43, 0.54, 0.14, 0.10, 0.055, 0.026)
_STRENGTH = 20.0


class Recycling:
    """Serves a whole session: what was learned in one answer helps in the next. Holds `MOST` tokens per vocabulary entry
    at most."""

    def __init__(self) -> None:
        self._successors: dict[int, list[tuple[int, int]]] = {}
        """Token -> (successor, kind)."""
        self._rates = Rates(_PRIORS, _STRENGTH)

    def learn(self, tokens: Sequence[int], came: Sequence[int], rows: Sequence[Tensor]) -> None:
        """
        Args:
            tokens: read by the backbone one after the other.
            came: the token after each of them.
            rows: [vocab_size] each, the logits after each of them.
        """
        for token, successor in zip(tokens, came, strict=True):
            for guess, kind in self._successors.get(token, ()):
                self._rates.learn(kind, guess == successor)
        for token, likeliest in zip(tokens, _likeliest(rows), strict=True):
            self._successors[token] = likeliest

    def offers(self, token: int) -> list[tuple[int, float]]:
        """Successors with their probabilities, in the backbone's order."""
        means = self._rates.means
        return [(successor, means[kind]) for successor, kind in self._successors.get(token, ())]


def _likeliest(rows: Sequence[Tensor]) -> list[list[tuple[int, int]]]:
    """Per row up to `MOST` tokens within `WINDOW` of the best, best first, each with its kind."""
    if rows[0].device.type != "cpu":
        best = torch.stack([*rows]).float().topk(min(MOST, len(rows[0])), dim=-1)
        return [_with_kinds(*row) for row in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
    found = []
    for tensor in rows:
        row = tensor.float().numpy()
        # A comparison over the whole row costs a fifth of sorting out its best few.
        near = (row > row[row.argmax()] - WINDOW).nonzero()[0]
        near = near[(-row[near]).argsort(kind="stable")[:MOST]]
        found.append(_with_kinds(near.tolist(), row[near].tolist()))
    return found


def _with_kinds(tokens: Sequence[int], logits: Sequence[float]) -> list[tuple[int, int]]:
    lacking = [logits[0] - value for value in logits]
    lead = lacking[1] if len(lacking) > 1 else WINDOW
    kinds = [(lead >= 1) + (lead >= 2) + (lead >= WINDOW), 4 + (lead >= 1), 6, 7]
    return [(token, kind) for token, kind, lack in zip(tokens, kinds, lacking, strict=False) if lack < WINDOW]
