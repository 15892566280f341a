"""What a forward path needs to know of a tree: how deep each node lies and which nodes it sees."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.engine.tree import CandidateTree


@dataclass(frozen=True, slots=True)
class Rows:
    """One row per node."""

    depths: Tensor
    """[n] int64: edges between a node and the root."""
    visible: Tensor
    """[n, n] bool: which of the nodes each node sees, itself included."""
    chain: bool
    """Every node is the only child of the one before: plain causal attention."""


def chain(tokens: list[int]) -> CandidateTree:
    """Tokens one after the other, as in a prompt; at least one."""
    return CandidateTree.build(tokens, range(-1, len(tokens) - 1), [1.0] * len(tokens))


def rows_of(tree: CandidateTree) -> Rows:
    """On the CPU, as the tree is. A chain is recognised, which spares walking it node by node."""
    count = len(tree)
    steps = torch.arange(count)
    if torch.equal(tree.parents, steps - 1):
        return Rows(steps, torch.ones(count, count, dtype=torch.bool).tril(), chain=True)
    visible = tree.ancestry()
    return Rows(visible.sum(dim=1) - 1, visible, chain=False)
