"""Says what a reference says, from memory: for tests that need the same few contexts thousands of times."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from doubles.tiny_families import Reference
from torch import Tensor

from medusa_chat.engine.backbone import Readout
from medusa_chat.engine.tree import CandidateTree


class TableBackbone:
    """The part of `Backbone` that the loop uses; hidden states are empty."""

    def __init__(self, reference: Reference, context: int = 1024) -> None:
        self.context = context
        self.ids: list[int] = []
        self.last_hidden: Tensor | None = None
        self._reference = reference
        self._known: dict[tuple[int, ...], Tensor] = {}
        self._trial: list[int] = []

    @property
    def length(self) -> int:
        return len(self.ids)

    @property
    def room(self) -> int:
        return self.context - self.length

    def prefill(self, ids: Sequence[int], on_progress: object = None) -> None:
        self.ids += ids
        self.last_hidden = torch.zeros(1)

    def verify(self, tree: CandidateTree) -> Readout:
        self._trial = tree.tokens.tolist()
        paths: list[tuple[int, ...]] = []
        for token, parent in zip(self._trial, tree.parents.tolist(), strict=True):
            paths.append((*(paths[parent] if parent >= 0 else self.ids), token))
        return Readout(torch.stack([self.logits(path) for path in paths]), torch.zeros(len(tree), 1))

    def commit(self, path: Sequence[int]) -> None:
        self.ids += [self._trial[node] for node in path]

    def rewind(self, length: int) -> None:
        del self.ids[length:]

    def logits(self, ids: tuple[int, ...]) -> Tensor:
        if ids not in self._known:
            self._known[ids] = self._reference.logits(ids)[-1]
        return self._known[ids]
