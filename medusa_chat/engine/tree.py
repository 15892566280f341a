"""The candidate tree: a root that is certain and the continuations guessed after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class CandidateTree:
    """Nodes in an order where parents come first; no padding, no leaf matrix.

    Leaf matrices padded with a token id let that id be accepted out of nowhere (Medusa's published code pads with
    token 0); parents alone cannot go wrong that way.
    """

    tokens: Tensor
    """[n] int64 on the CPU; tokens[0] is the root."""
    parents: Tensor
    """[n] int64 on the CPU; parents[0] == -1 and parents[i] < i."""
    scores: Tensor
    """[n] float32 on the CPU: the drafter's probability of the node given its parent; scores[0] == 1."""

    def __len__(self) -> int:
        return int(self.tokens.shape[0])

    @classmethod
    def root_only(cls, root: int) -> CandidateTree:
        """The tree of a plain step."""
        return cls.build([root], [-1], [1.0])

    @classmethod
    def build(cls, tokens: Sequence[int], parents: Sequence[int], scores: Sequence[float]) -> CandidateTree:
        """From plain lists.

        Raises:
            ValueError: the lists disagree in length, are empty, or a parent does not come before its child.
        """
        if not len(tokens) == len(parents) == len(scores) or not tokens:
            raise ValueError(
                f"a tree needs equally many tokens, parents and scores: {len(tokens)}, {len(parents)}, {len(scores)}"
            )
        if parents[0] != -1 or any(not 0 <= parent < node for node, parent in enumerate(parents) if node):
            raise ValueError("node 0 must be the root (parent -1) and every other parent must come before its child")
        return cls(
            torch.tensor(tokens, dtype=torch.int64),
            torch.tensor(parents, dtype=torch.int64),
            torch.tensor(scores, dtype=torch.float32),
        )

    def first(self, nodes: int) -> CandidateTree:
        """The first `nodes` nodes: a tree again, because parents come first. All of it when there are no more."""
        if nodes >= len(self):
            return self
        return CandidateTree(self.tokens[:nodes], self.parents[:nodes], self.scores[:nodes])

    def worths(self) -> list[float]:
        """For each guessed node, in node order, the product of scores from the root down to it."""
        worths = [1.0]
        for parent, score in zip(self.parents.tolist()[1:], self.scores.tolist()[1:], strict=True):
            worths.append(worths[parent] * score)
        return worths[1:]

    def depths(self) -> Tensor:
        """[n] int64: edges between a node and the root."""
        return self.ancestry().sum(dim=1) - 1

    def ancestry(self) -> Tensor:
        """[n, n] bool: row i marks node i itself and all its ancestors, the root included."""
        parents = self.parents.tolist()
        ancestry = torch.eye(len(parents), dtype=torch.bool)
        for node in range(1, len(parents)):
            ancestry[node] |= ancestry[parents[node]]
        return ancestry

    def children(self) -> list[list[int]]:
        """For each node its children, in node order."""
        children: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parents.tolist()):
            if parent >= 0:
                children[parent].append(node)
        return children
