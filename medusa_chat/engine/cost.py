"""What a step costs here and now, measured."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from statistics import fmean
from time import perf_counter

import torch

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.drafters.guesses import HeadModel
from medusa_chat.engine.options import Decoding
from medusa_chat.engine.tree import CandidateTree

CONTEXT_ROWS = 64
SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Nodes of the trees that are timed, root included."""
LEAST_PAIRS = 3
HOPELESS = 10.0
"""A pass that costs as much as this many plain steps cannot pay: no larger one is timed."""


@dataclass(frozen=True, slots=True)
class CostCurve:
    """Milliseconds of one pass over a tree behind a short context, by its number of nodes."""

    nodes: tuple[int, ...]
    """Rising, from 1 on."""
    ms: tuple[float, ...]
    """Above 0, never falling."""
    draft_ms: float = 0.0
    """Of one draft with heads, where there are heads: paid before the first guessed node."""

    def __post_init__(self) -> None:
        """
        Raises:
            ValueError: this is not a curve of costs.
        """
        rising = all(left < right for left, right in pairwise(self.nodes))
        falling = any(left > right for left, right in pairwise(self.ms))
        if not rising or falling or self.nodes[:1] != (1,) or len(self.nodes) != len(self.ms) or not self.ms[0] > 0:
            raise ValueError(f"no curve of costs: {self.nodes} nodes in {self.ms} ms")

    @classmethod
    def of(cls, fastest: Mapping[int, float], draft_ms: float = 0.0) -> CostCurve:
        """From the fastest pass of each size; sizes that came out faster than smaller ones are averaged with them."""
        nodes = tuple(sorted(fastest))
        return cls(nodes, _never_falling([fastest[size] for size in nodes]), draft_ms)

    def pass_ms(self, nodes: int) -> float:
        """Straight lines between what was measured, the last one drawn on."""
        at = bisect_left(self.nodes, nodes)
        if at < len(self.nodes) and self.nodes[at] == nodes:
            return self.ms[at]
        if len(self.nodes) == 1:
            return self.ms[0]
        right = min(at, len(self.nodes) - 1)
        left = right - 1
        slope = (self.ms[right] - self.ms[left]) / (self.nodes[right] - self.nodes[left])
        return self.ms[left] + slope * (nodes - self.nodes[left])

    def step_ms(self, nodes: int) -> float:
        """Drafting included from 2 nodes on."""
        return self.pass_ms(nodes) + (self.draft_ms if nodes > 1 else 0.0)

    def overhead(self, nodes: int) -> float:
        return self.step_ms(nodes) / self.step_ms(1)

    def best(self, expected: Mapping[int, float]) -> int:
        """The number of nodes with most tokens per second; 1 (plain decoding) where drafting would lose.

        Args:
            expected: number of nodes -> expected accepted length.
        """
        gain = {1: 1.0, **{nodes: length / self.overhead(nodes) for nodes, length in expected.items()}}
        return max(gain, key=lambda nodes: (gain[nodes], -nodes))


def measure(
    backbone: Backbone,
    heads: HeadModel | None = None,
    *,
    seconds: float = 2.0,
    rounds: int = 12,
    on_progress: Callable[[float], None] | None = None,
) -> CostCurve:
    """Time passes of every size on this machine, now; empties the cache.

    Sizes take turns, so that a busy moment hits all alike, and the fastest pass of each counts. No round is begun
    after `seconds`; where the first one alone takes longer (a large model on a slow machine), the sizes not reached
    by then are left out.

    Args:
        heads: where there are some; one draft with all of them is timed too.
        on_progress: told the share that is done, 0..1.
    """
    deadline = perf_counter() + seconds
    backbone.rewind(0)
    backbone.prefill([0] * min(CONTEXT_ROWS, max(backbone.context - SIZES[-1], 0)))
    fastest: dict[int, float] = {}
    drafts: list[float] = []
    for done in range(rounds):
        for size in _sizes(backbone.room, fastest, deadline) if done == 0 else list(fastest):
            fastest[size] = min(pass_ms(backbone, _tree(size)), fastest.get(size, inf))
        if heads is not None:
            drafts.append(_draft_ms(backbone, heads))
        if on_progress is not None:
            on_progress((done + 1) / rounds)
        if perf_counter() > deadline:
            break
    backbone.rewind(0)
    return CostCurve.of(fastest, min(drafts, default=0.0))


def _sizes(room: int, fastest: Mapping[int, float], deadline: float) -> Iterator[int]:
    """Those worth timing, decided while `fastest` fills."""
    for size in SIZES:
        last = fastest.get(max(fastest, default=0), 0.0)
        hopeless = len(fastest) > 1 and (perf_counter() > deadline or last > HOPELESS * fastest[1])
        if size > room or hopeless:
            return
        yield size


def _never_falling(values: Sequence[float]) -> tuple[float, ...]:
    """The nearest sequence that never falls: neighbours in the wrong order become their mean."""
    pools: list[list[float]] = []
    for value in values:
        pools.append([value])
        while len(pools) > 1 and fmean(pools[-2]) > fmean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    return tuple(fmean(pool) for pool in pools for _ in pool)


def _draft_ms(backbone: Backbone, heads: HeadModel) -> float:
    """To be timed behind a pass over the whole model, as every draft: heads found in the cache look much cheaper."""
    hidden = torch.zeros(backbone.hidden_size, dtype=backbone.dtype, device=backbone.device)
    began = perf_counter()
    heads.guess(hidden, 0, heads.count, Decoding().top_k)
    return 1000.0 * (perf_counter() - began)


def _tree(nodes: int) -> CandidateTree:
    """With branches, where there is more than one guess: a forward path may treat a chain better than a tree."""
    return CandidateTree.build([0] * nodes, [(node - 1) // 2 for node in range(nodes)], [1.0] * nodes)


def pairs_ms(backbone: Backbone, nodes: int, *, repeats: int = 7, seconds: float = 1.0) -> list[tuple[float, float]]:
    """Milliseconds of a pass over the root alone and of one over `nodes` nodes right behind it, some such pairs behind
    a short context: at least `LEAST_PAIRS`, and none is begun after `seconds`. Empties the cache."""
    deadline = perf_counter() + seconds
    backbone.rewind(0)
    backbone.prefill([0] * min(CONTEXT_ROWS, backbone.context - nodes))
    pairs: list[tuple[float, float]] = []
    while len(pairs) < LEAST_PAIRS or (len(pairs) < repeats and perf_counter() < deadline):
        pairs.append((pass_ms(backbone, _tree(1)), pass_ms(backbone, _tree(nodes))))
    backbone.rewind(0)
    return pairs


def pass_ms(backbone: Backbone, tree: CandidateTree) -> float:
    """Milliseconds of one forward pass over `tree` behind what is committed; nothing of it is kept."""
    began = perf_counter()
    backbone.verify(tree)
    if backbone.device.type == "cuda":
        # A card works on after the call has returned.
        torch.cuda.synchronize(backbone.device)
    return 1000.0 * (perf_counter() - began)
