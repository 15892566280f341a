"""Two forward paths over the same weights must say the same; asked before one takes the other's place."""

from __future__ import annotations

import torch
from torch import Tensor

from medusa_chat.engine.forward.base import Forward, chain
from medusa_chat.engine.tree import CandidateTree

CHAIN = 8
PARENTS = (-1, 0, 0, 1, 1, 2, 5)
"""Of a tree after the chain: siblings, two levels, a branch that goes on."""
LIMITS = {torch.float32: 1e-4, torch.float16: 2e-2, torch.bfloat16: 1e-1}
"""Largest difference that rounding explains, relative to the largest number; it grows with a model's depth. A part
read wrongly makes differences of the numbers' own size."""


@torch.inference_mode()
def difference(forward: Forward, other: Forward, vocab_size: int) -> float:
    """Largest difference of their logits and hidden states over a chain and a tree behind it, relative to the largest
    of each kind. Both must be empty; they are empty again afterwards."""
    found = 0.0
    for ours, theirs in zip(_answers(forward, vocab_size), _answers(other, vocab_size), strict=True):
        found = max(found, float((ours - theirs).abs().max() / theirs.abs().max()))
    return found


def _answers(forward: Forward, vocab_size: int) -> list[Tensor]:
    # A multiplier without a factor in common with a vocabulary's size: tokens from all over it, none twice.
    tokens = [(7919 * (place + 1)) % vocab_size for place in range(CHAIN + len(PARENTS))]
    tree = CandidateTree.build(tokens[CHAIN:], PARENTS, [1.0] * len(PARENTS))
    answers = list(forward.run(chain(tokens[:CHAIN]), last_only=False))
    forward.commit(range(CHAIN))
    answers += forward.run(tree, last_only=False)
    forward.rewind(0)
    return [answer.float() for answer in answers]
