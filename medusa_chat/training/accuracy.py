"""How often heads are right on answers they never saw."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.targets import Targets

_ROWS = 1_024


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Per head and rank."""

    right: tuple[tuple[float, ...], ...]
    """[heads][ranks]: share of positions where the token at that rank was the one that came."""
    positions: tuple[int, ...]
    """[heads]: positions that were counted: those whose token is there, whether the heads know it or not."""

    def top(self, head: int, ranks: int) -> float:
        """Share of positions where the token was among the first `ranks` of head `head` (from 0)."""
        return sum(self.right[head][:ranks])

    def tops(self, ranks: int) -> list[float]:
        """Of all heads, rounded."""
        return [round(self.top(head, ranks), 4) for head in range(len(self.right))]

    def describe(self, ranks: int) -> str:
        """Of all heads, as in "0.412 0.255"."""
        return " ".join(f"{self.top(head, ranks):.3f}" for head in range(len(self.right)))


@torch.inference_mode()
def measure(
    heads: MedusaHeads, states: HiddenStates, targets: Targets, ranks: int = 10, limit: int | None = None
) -> Accuracy:
    """Accuracy at every position of `states` whose targets exist, or at `limit` of them, spread evenly."""
    hits = torch.zeros(heads.count, ranks)
    counted = torch.zeros(heads.count, dtype=torch.int64)
    for positions in torch.split(evenly(targets.positions(), limit), _ROWS):
        hidden = states.hidden[positions].to(heads.weights.device, heads.weights.dtype)
        guessed = heads.logits(heads(hidden, states.tokens[positions + 1].to(hidden.device)))
        best = guessed.float().topk(min(ranks, guessed.shape[-1]), dim=-1).indices.cpu()
        exists = targets.exists(positions, heads.count)
        hits[:, : best.shape[-1]] += (best == wanted(targets, positions, heads.count)[..., None]).sum(dim=1)
        counted += exists.sum(dim=1)
    share = hits / counted.clamp(min=1)[:, None]
    return Accuracy(tuple(tuple(row) for row in share.tolist()), tuple(counted.tolist()))


def evenly(positions: Tensor, limit: int | None) -> Tensor:
    """At most `limit` of them, spread over all."""
    if limit is None or len(positions) <= limit:
        return positions
    return positions[torch.arange(limit) * len(positions) // limit]


def wanted(targets: Targets, positions: Tensor, heads: int) -> Tensor:
    """[heads, positions] int64: the column that is right, -1 where none is (no token there, or one unknown to heads)."""
    ahead = torch.arange(1, heads + 1)[:, None]
    exists = targets.exists(positions, heads)
    return torch.where(exists, targets.columns[torch.where(exists, positions + ahead + 1, 0)], -1)
