"""What each head is to answer at each position: the token that came, and what the backbone thought of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.training.hidden import HiddenStates

TEACHER_TOKENS = 24
"""Tokens kept of the backbone's own distribution at each position; together they hold nearly all of it."""
_ROWS = 512


@dataclass(frozen=True, slots=True)
class Wanted:
    """Targets of all heads at some positions, as `loss.sparse_loss` takes them; zero where nothing is to be answered."""

    columns: Tensor
    """[heads, positions, m+1] int64: the token that came, then the teacher's."""
    mass: Tensor
    """[heads, positions, m+1] float32: the cross-entropy's target."""
    odds: Tensor
    """[heads, positions, m+1] float32: the teacher's distribution."""
    overlap: Tensor
    """[heads, positions] float32: weight of the acceptance loss."""


def wanted(
    columns: Tensor, known: Tensor, odds: Tensor, exists: Tensor, soft_share: float, acceptance_share: float
) -> Wanted:
    """
    Args:
        columns: [heads, positions, m+1], see `Wanted`.
        known: [heads, positions] bool: the heads know the token that came.
        odds: [heads, positions, m] of the teacher, 0 where nothing exists.
        exists: [heads, positions] bool.
    """
    hard = (exists & known) * (1.0 - soft_share)
    mass = torch.cat([hard[..., None], odds * soft_share], dim=-1) * (1.0 - acceptance_share)
    spread = torch.cat([torch.zeros_like(odds[..., :1]), odds], dim=-1)
    return Wanted(columns, mass, spread, exists.float() * acceptance_share)


@dataclass(frozen=True, slots=True)
class Targets:
    """Per token of joined conversations. Columns are those of the heads' (restricted) vocabulary."""

    columns: Tensor
    """[tokens] int64: the token's own column, -1 where the heads do not know it."""
    left: Tensor
    """[tokens] int64: tokens of the same answer after this one as a root; no target lies past its end."""
    teacher_columns: Tensor
    """[tokens, m] int16 or int32: the columns most likely to follow this token, by the backbone."""
    teacher_odds: Tensor
    """[tokens, m] float16: their probabilities among the heads' vocabulary."""

    def batch(self, positions: Tensor, heads: int, soft_share: float, acceptance_share: float = 0.0) -> Wanted:
        """Targets of all heads at some positions.

        Position t is that of a hidden state, t+1 that of the root. Head k (from 1) answers for token t+1+k, if that
        belongs to the answer the root stands in or right before. The target of its cross-entropy mixes that token
        (share 1 - soft_share) with the distribution the backbone gave for it, the tokens between being known.
        """
        ahead = torch.arange(1, heads + 1)[:, None]
        exists = self.exists(positions, heads)
        teacher = torch.where(exists, positions + ahead, 0)
        hard = self.columns[torch.where(exists, positions + ahead + 1, 0)]
        columns = torch.cat([hard.clamp(min=0)[..., None], self.teacher_columns[teacher].long()], dim=-1)
        odds = self.teacher_odds[teacher].float() * exists[..., None]
        return wanted(columns, hard >= 0, odds, exists, soft_share, acceptance_share)

    def exists(self, positions: Tensor, heads: int) -> Tensor:
        """[heads, positions] bool: head k's token t+1+k is there and belongs to the root's answer."""
        ahead = torch.arange(1, heads + 1)[:, None]
        return ahead <= self.left[(positions + 1).clamp(max=len(self.left) - 1)]

    def positions(self) -> Tensor:
        """All positions where a head has something to answer for: then the first one has."""
        everywhere = torch.arange(len(self.columns) - 1)
        return everywhere[self.exists(everywhere, 1)[0]]


def frequent_tokens(states: HiddenStates, count: int, always: frozenset[int], vocab_size: int) -> Tensor:
    """[count] int64, rising: the tokens most frequent in the answers, and `always` (the end tokens) in any case."""
    return most_frequent(states.tokens[answer_mask(states)], count, always, vocab_size)


def most_frequent(said: Tensor, count: int, always: frozenset[int], vocab_size: int) -> Tensor:
    """As `frequent_tokens`, of answer tokens [n] int64."""
    counts = torch.bincount(said, minlength=vocab_size)
    if always:
        counts[torch.tensor(sorted(always))] = counts.sum() + 1
    return counts.topk(min(count, vocab_size)).indices.sort().values


def build_targets(
    states: HiddenStates,
    output: Tensor,
    token_map: Tensor | None,
    vocab_size: int,
    on_progress: Callable[[int, int], None] | None = None,
) -> Targets:
    """
    Args:
        output: [vocab, hidden_size] the backbone's output layer, restricted to `token_map`.
    """
    columns = torch.full((vocab_size,), -1, dtype=torch.int64)
    known = torch.arange(vocab_size) if token_map is None else token_map
    columns[known] = torch.arange(len(known))
    teacher_columns, teacher_odds = [], []
    small = torch.int16 if len(known) <= 2**15 else torch.int32
    for start in range(0, len(states.tokens), _ROWS):
        odds, where = teach(states.hidden[start : start + _ROWS].to(output.device, output.dtype), output)
        teacher_columns.append(where.to("cpu", small))
        teacher_odds.append(odds.to("cpu", torch.float16))
        if on_progress is not None:
            on_progress(min(start + _ROWS, len(states.tokens)), len(states.tokens))
    return Targets(
        columns=columns[states.tokens],
        left=states.left,
        teacher_columns=torch.cat(teacher_columns),
        teacher_odds=torch.cat(teacher_odds),
    )


@torch.no_grad()
def teach(rows: Tensor, output: Tensor) -> tuple[Tensor, Tensor]:
    """The backbone's likeliest tokens after hidden states [n, hidden_size]: odds [n, m] and columns [n, m]."""
    best = (rows @ output.T).float().softmax(dim=-1).topk(min(TEACHER_TOKENS, len(output)), dim=-1)
    return best.values, best.indices


def answer_mask(states: HiddenStates) -> Tensor:
    """[tokens] bool: the token belongs to an answer, its end token included."""
    return torch.cat([states.left.new_zeros(1), states.left[:-1]]) > 0
