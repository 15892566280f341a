"""Conversations as padded batches, for passes that gradients flow through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.training.conversations import Conversation

ROOM = 2_048
"""Tokens of a pass, pads included."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Some conversations side by side."""

    ids: Tensor
    """[conversations, longest] int64; pads stand at the right, where a causal model never looks."""
    left: Tensor
    """[conversations, longest] int64, see `Conversation.left`; 0 at pads."""
    there: Tensor
    """[conversations, longest] bool: no pad."""

    @classmethod
    def of(cls, conversations: Sequence[Conversation]) -> Passage:
        longest = max(len(one.ids) for one in conversations)
        ids = torch.zeros(len(conversations), longest, dtype=torch.int64)
        left, there = torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        for row, one in enumerate(conversations):
            ids[row, : len(one.ids)] = torch.tensor(one.ids)
            left[row, : len(one.ids)] = torch.tensor(one.left())
            there[row, : len(one.ids)] = True
        return cls(ids, left, there)


def passages(conversations: Sequence[Conversation]) -> list[Passage]:
    """Conversations of like length together, as many as there is room for, at least one."""
    groups: list[list[Conversation]] = []
    for one in sorted(conversations, key=lambda one: len(one.ids)):
        if groups and (len(groups[-1]) + 1) * len(one.ids) <= ROOM:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [Passage.of(group) for group in groups]
