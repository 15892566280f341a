"""Top-p sampling without sorting a whole vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor


class TopP(LogitsProcessor):
    """Keeps the fewest likeliest tokens whose mass reaches `top_p`, as transformers' `TopPLogitsWarper` does but for rounding.

    Sorting fifty thousand tokens takes a fifth of a small model's step. Only those above an equal share of the mass that
    may be left out need sorting: all below it together weigh less than that mass, so none of them is kept.
    """

    def __init__(self, top_p: float) -> None:
        self._spare = 1.0 - top_p

    def __call__(self, _input_ids: Tensor | None, scores: Tensor) -> Tensor:
        """[n, vocab_size] to the same, minus infinity for what is left out."""
        kept = torch.full_like(scores, -torch.inf)
        for row, chances in enumerate(scores.softmax(dim=-1)):
            (hopeful,) = (chances >= self._spare / len(chances)).nonzero(as_tuple=True)
            rising, order = chances[hopeful].sort()
            # Mass of a token and all less likely ones.
            mass = rising.cumsum(dim=-1) + (1.0 - rising.sum())
            mass[-1] = torch.inf
            chosen = hopeful[order[mass > self._spare]]
            kept[row, chosen] = scores[row, chosen]
        return kept
