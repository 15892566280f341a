"""What a step costs behind a longer and longer context, and how fast the context is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import pass_ms
from medusa_chat.engine.tree import CandidateTree

LENGTHS = (100, 500, 1000, 2000, 4000, 8000)
"""Rows of the context: from a short question to a long document."""

_REPEATS = 9
_WARM_UP_ROWS = 64


@dataclass(frozen=True, slots=True)
class ContextCost:
    """Behind a context of so many rows."""

    rows: int
    step_ms: dict[int, float]
    """Nodes of the tree -> milliseconds of a pass, the median of some."""
    read_tokens_per_second: float
    """Of the stretch since the length before."""
    read_seconds: float
    """Of the whole context."""


def context_costs(
    backbone: Backbone,
    nodes: Sequence[int],
    lengths: Sequence[int] = LENGTHS,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[ContextCost]:
    """For each rising length the model's context has room for, with the largest tree behind it. Empties the cache.

    What the tokens are makes no difference to the time, so they are all alike.
    """
    trees = [tree_of(count) for count in nodes]
    backbone.rewind(0)
    backbone.prefill([0] * min(_WARM_UP_ROWS, backbone.context))
    backbone.rewind(0)
    read_seconds = 0.0
    for length in lengths:
        if length + max(nodes) > backbone.context:
            break
        stretch = length - backbone.length
        began = perf_counter()
        backbone.prefill([0] * stretch, on_progress)
        seconds = perf_counter() - began
        read_seconds += seconds
        yield ContextCost(length, _step_ms(backbone, trees), stretch / seconds, read_seconds)
    backbone.rewind(0)


def _step_ms(backbone: Backbone, trees: Sequence[CandidateTree]) -> dict[int, float]:
    """Sizes take turns, so that a busy moment hits all alike; the first round warms up."""
    rounds = [[pass_ms(backbone, tree) for tree in trees] for _ in range(_REPEATS + 1)][1:]
    return {len(tree): median(times) for tree, times in zip(trees, zip(*rounds, strict=True), strict=True)}


def tree_of(nodes: int) -> CandidateTree:
    """Each node has two children: a forward path may treat a chain better than a tree."""
    return CandidateTree.build([0] * nodes, [(node - 1) // 2 for node in range(nodes)], [1.0] * nodes)
