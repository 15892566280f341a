"""What the backbone held of a whole verified tree, for whoever looks at the step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from medusa_chat.engine.sampling import Posterior
from medusa_chat.engine.step import Beliefs

_LEAST = -1e30
"""Stands for minus infinity where a probability of nothing is multiplied with it."""


def beliefs(posterior: Posterior) -> Beliefs:
    """One entry a node; about a fiftieth of a small model's step unless top-k or min-p is on."""
    tree = posterior.tree
    children: list[list[int]] = tree.children()
    rows = [posterior.shown_scores(node) for node in range(len(tree))]
    asked = [[tree.token_ids[child] for child in below] for below in children]
    held = _on_cpu(rows, asked) if rows[0].device.type == "cpu" else _on_device(torch.stack(rows), asked)
    probabilities = [1.0] * len(tree)
    for below, (_, _, _, chances) in zip(children, held, strict=True):
        for child, chance in zip(below, chances, strict=True):
            probabilities[child] = chance
    favourites, certainties, entropies, _ = zip(*held, strict=True)
    return Beliefs(tuple(probabilities), entropies, favourites, certainties)


_Held = tuple[int, float, float, list[float]]
"""Of one distribution: the likeliest token, its probability, the entropy, and the probabilities of the tokens asked for."""


def _on_cpu(rows: Sequence[Tensor], asked: Sequence[Sequence[int]]) -> list[_Held]:
    """Row by row in numpy, on the thread that is here: torch's others would first wait for a core."""
    held = []
    for row, tokens in zip(rows, asked, strict=True):
        scores = row.numpy()
        favourite = int(scores.argmax())
        below = scores - scores[favourite]
        weights = np.exp(below)
        total = float(weights.sum())
        chances = [float(weights[token]) / total for token in tokens]
        weights *= np.maximum(below, _LEAST, out=below)
        entropy = max(float(np.log(total)) - float(weights.sum()) / total, 0.0)
        held.append((favourite, 1.0 / total, entropy, chances))
    return held


def _on_device(scores: Tensor, asked: Sequence[Sequence[int]]) -> list[_Held]:
    """All rows at once, and one transfer for all numbers.

    Args:
        scores: [n, vocab_size].
    """
    best, favourites = scores.max(dim=-1)
    below = scores - best[:, None]
    weights = below.exp()
    total = weights.sum(dim=-1)
    entropies = total.log() - (weights * below.clamp_(min=_LEAST)).sum(dim=-1) / total
    rows = [row for row, tokens in enumerate(asked) for _ in tokens]
    chances = weights[rows, [token for tokens in asked for token in tokens]] / total[rows]
    # float64 holds token ids exactly.
    numbers = torch.cat([each.double() for each in (favourites, 1.0 / total, entropies.clamp_(min=0.0), chances)])
    count = len(asked)
    told = iter(numbers[3 * count :].tolist())
    columns = zip(*numbers[: 3 * count].view(3, count).tolist(), asked, strict=True)
    return [(int(token), sure, spread, [next(told) for _ in tokens]) for token, sure, spread, tokens in columns]
