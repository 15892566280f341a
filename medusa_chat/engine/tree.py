"""The candidate tree: a root that is certain and the continuations guessed after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

ROOT, GIVEN = "root", "given"
"""Who proposed a node that nobody guessed: the root; rows of a known text (a prompt, a chain to be timed)."""


@dataclass(frozen=True)
class CandidateTree:
    """Nodes in an order where parents come first; no padding, no leaf matrix.

    Leaf matrices padded with a token id let that id be accepted out of nowhere (Medusa's published code pads with
    token 0); parents alone cannot go wrong that way.

    Kept as plain tuples, because a step looks at its tree node by node; the tensors are made when somebody asks for them
    (a few microseconds each) and then kept.
    """

    token_ids: tuple[int, ...]
    """One per node; token_ids[0] is the root."""
    parent_nodes: tuple[int, ...]
    """parent_nodes[0] == -1 and parent_nodes[i] < i."""
    probabilities: tuple[float, ...]
    """The drafter's probability of the node given its parent; probabilities[0] == 1."""
    sources: tuple[str, ...]
    """Who proposed the node: "root", "head 1", "head 2", ..., "lookup", "recycle"; "given" where nobody guessed."""

    def __len__(self) -> int:
        return len(self.token_ids)

    @classmethod
    def root_only(cls, root: int) -> CandidateTree:
        """The tree of a plain step."""
        return cls((root,), (-1,), (1.0,), (ROOT,))

    @classmethod
    def build(
        cls,
        tokens: Sequence[int],
        parents: Sequence[int],
        scores: Sequence[float],
        sources: Sequence[str] | None = None,
    ) -> CandidateTree:
        """From plain lists; without `sources` all but the root is "given".

        Raises:
            ValueError: the lists disagree in length, are empty, or a parent does not come before its child.
        """
        if sources is None:
            sources = [ROOT, *[GIVEN] * (len(tokens) - 1)]
        if not len(tokens) == len(parents) == len(scores) == len(sources) or not tokens:
            raise ValueError(
                "a tree needs equally many tokens, parents, scores and sources: "
                f"{len(tokens)}, {len(parents)}, {len(scores)}, {len(sources)}"
            )
        if parents[0] != -1 or any(not 0 <= parent < node for node, parent in enumerate(parents) if node):
            raise ValueError("node 0 must be the root (parent -1) and every other parent must come before its child")
        return cls(tuple(tokens), tuple(parents), tuple(scores), tuple(sources))

    @cached_property
    def tokens(self) -> Tensor:
        """[n] int64 on the CPU; not to be changed."""
        return torch.tensor(self.token_ids, dtype=torch.int64)

    @cached_property
    def parents(self) -> Tensor:
        """[n] int64 on the CPU; not to be changed."""
        return torch.tensor(self.parent_nodes, dtype=torch.int64)

    @cached_property
    def scores(self) -> Tensor:
        """[n] float32 on the CPU: `probabilities`; not to be changed."""
        return torch.tensor(self.probabilities, dtype=torch.float32)

    def first(self, nodes: int) -> CandidateTree:
        """The first `nodes` nodes: a tree again, because parents come first. All of it when there are no more."""
        if nodes >= len(self):
            return self
        return CandidateTree(
            self.token_ids[:nodes], self.parent_nodes[:nodes], self.probabilities[:nodes], self.sources[:nodes]
        )

    def worths(self) -> list[float]:
        """For each guessed node, in node order, the product of scores from the root down to it."""
        worths = [1.0]
        for parent, score in zip(self.parent_nodes[1:], self.probabilities[1:], strict=True):
            worths.append(worths[parent] * score)
        return worths[1:]

    def depths(self) -> Tensor:
        """[n] int64: edges between a node and the root."""
        depths = [0] * len(self)
        for node, parent in enumerate(self.parent_nodes[1:], start=1):
            depths[node] = depths[parent] + 1
        return torch.tensor(depths, dtype=torch.int64)

    def ancestry(self) -> Tensor:
        """[n, n] bool: row i marks node i itself and all its ancestors, the root included."""
        # Rows as whole numbers, bit j for node j: one "or" a node, however deep the tree.
        rows = [1]
        for node, parent in enumerate(self.parent_nodes[1:], start=1):
            rows.append(rows[parent] | 1 << node)
        width = (len(rows) + 7) // 8
        packed = np.frombuffer(b"".join([row.to_bytes(width, "little") for row in rows]), dtype=np.uint8)
        bits = np.unpackbits(packed.reshape(len(rows), width), axis=1, count=len(rows), bitorder="little")
        return torch.from_numpy(bits).view(torch.bool)

    def children(self) -> list[list[int]]:
        """For each node its children, in node order."""
        children: list[list[int]] = [[] for _ in range(len(self))]
        for node, parent in enumerate(self.parent_nodes[1:], start=1):
            children[parent].append(node)
        return children
