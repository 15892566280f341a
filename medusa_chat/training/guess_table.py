"""Heads' guesses on held-out answers, held against what came: the raw material of calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.targets import answer_mask, places

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
    ends = states.lengths.cumsum(dim=0)
    place, answers = places(states), answer_mask(states)
    remaining = states.lengths.repeat_interleave(states.lengths) - 1 - place
    # The first root is the prompt's last token; a step needs the hidden state before its root and a token after it.
    first_root = states.prompts.repeat_interleave(states.lengths) - 1
    begins = (place + 1 >= first_root) & (remaining >= 2)
    positions = torch.arange(len(states.tokens))[begins]
    guesses, odds = [], []
    for rows in torch.split(positions, _ROWS):
        hidden = states.hidden[rows].to(heads.weights.device, heads.weights.dtype)
        roots = states.tokens[rows + 1].to(hidden.device)
        best = heads.logits(heads(hidden, roots)).float().softmax(dim=-1).topk(ranks, dim=-1)
        tokens = best.indices if heads.token_map is None else heads.token_map[best.indices]
        guesses.append(tokens.transpose(0, 1).cpu())
        odds.append(best.values.transpose(0, 1).cpu())
    tokens = torch.cat(guesses)
    ahead = torch.arange(2, heads.count + 2)
    there = ahead <= remaining[positions][:, None]
    came = states.tokens[torch.where(there, positions[:, None] + ahead, 0)]
    match = tokens == came[..., None]
    found = torch.where(match.any(dim=-1), match.int().argmax(dim=-1), ranks)
    starts = _first_rows(positions, ends)
    assert bool(answers[positions + 2].all())
    return GuessTable(tokens, torch.cat(odds), torch.where(there, found, -1), remaining[positions] - 1, starts)


def _first_rows(positions: Tensor, ends: Tensor) -> tuple[int, ...]:
    """Where a new conversation begins among rising positions."""
    conversation: Sequence[int] = torch.searchsorted(ends, positions, right=True).tolist()
    return tuple(row for row, one in enumerate(conversation) if row == 0 or one != conversation[row - 1])
