"""Conversations as padded batches, for passes that gradients flow through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.training.conversations import Conversation
from medusa_chat.training.recipe import Recipe

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


class Order:
    """Which conversations a step looks at: whole ones, together about as many answer tokens as the recipe says."""

    def __init__(self, conversations: Sequence[Conversation], recipe: Recipe) -> None:
        self._conversations, self._recipe = conversations, recipe
        self._a_epoch = max(1, round(sum(map(positions, conversations)) / recipe.batch))
        self.steps = max(1, round(recipe.epochs * self._a_epoch))

    def step(self, step: int) -> list[Conversation]:
        """Depends on seed and step alone."""
        seed = self._recipe.seed * 1_000_003 + step // self._a_epoch
        order = torch.randperm(len(self._conversations), generator=torch.Generator().manual_seed(seed)).tolist()
        place, share = step % self._a_epoch, len(order) / self._a_epoch
        return [self._conversations[one] for one in order[int(place * share) : max(int((place + 1) * share), 1)]]

    def parts(self, step: int, process: int, processes: int) -> list[tuple[list[Passage], int]]:
        """One process' share of a step, as `loop.Loop` takes it, each part with the positions of the whole step."""
        chosen = self.step(step)
        total = sum(map(positions, chosen))
        mine = chosen[process::processes]
        return [(passages(mine[part :: self._recipe.accumulate]), total) for part in range(self._recipe.accumulate)]


def positions(conversation: Conversation) -> int:
    """Where the first head has something to answer for."""
    return sum(count > 0 for count in conversation.left())
