"""Heads' guesses on held-out answers, held against what came: the raw material of calibration."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.hidden import HiddenStates

_ROWS = 512


@dataclass(frozen=True, slots=True)
class GuessTable:
    """One row per place of an answer where a step could begin: its root is certain, something comes after it."""

    tokens: Tensor
    """[rows, heads, ranks] int64: guesses, best first."""
    probabilities: Tensor
    """[rows, heads, ranks] float32: the heads' own."""
    ranks: Tensor
    """[rows, heads] int64: rank at which the token that came stands; `ranks` (one too many) where it is not among the
    guesses, -1 where the answer had ended before."""
    left: Tensor
    """[rows] int64: tokens of the answer after the root; a step yields no more than that. At least 1."""
    answer_starts: tuple[int, ...]
    """Row of each answer's first step; rows of an answer are consecutive."""

    def __len__(self) -> int:
        return len(self.left)

    @property
    def width(self) -> int:
        return int(self.tokens.shape[2])


@torch.inference_mode()
def tabulate(heads: MedusaHeads, states: HiddenStates, ranks: int) -> GuessTable:
    """
    Args:
        ranks: guesses kept of each head.
    """
    # A step needs the hidden state before its root and a token after it.
    positions = (states.left[1:] > 0).nonzero()[:, 0]
    left = states.left[positions + 1]
    guesses, odds = [], []
    for rows in torch.split(positions, _ROWS):
        hidden = states.hidden[rows].to(heads.weights.device, heads.weights.dtype)
        roots = states.tokens[rows + 1].to(hidden.device)
        best = heads.logits(heads(hidden, roots)).float().softmax(dim=-1).topk(ranks, dim=-1)
        tokens = best.indices if heads.token_map is None else heads.token_map[best.indices]
        guesses.append(tokens.transpose(0, 1).cpu())
        odds.append(best.values.transpose(0, 1).cpu())
    tokens = torch.cat(guesses)
    ahead = torch.arange(1, heads.count + 1)
    there = ahead <= left[:, None]
    came = states.tokens[torch.where(there, positions[:, None] + ahead + 1, 0)]
    match = tokens == came[..., None]
    found = torch.where(match.any(dim=-1), match.int().argmax(dim=-1), ranks)
    return GuessTable(tokens, torch.cat(odds), torch.where(there, found, -1), left, _first_rows(left))


def _first_rows(left: Tensor) -> tuple[int, ...]:
    """Where an answer begins: from row to row of one, a token less is left."""
    follows = left[1:] == left[:-1] - 1
    return (0, *((~follows).nonzero()[:, 0] + 1).tolist()) if len(left) else ()
