"""Measure heads on held-out answers and choose their trees and their budget for this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import torch

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import step_ms
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.tree import CandidateTree
from medusa_chat.heads.medusa import MedusaHeads
from medusa_chat.training.guess_table import GuessTable, tabulate
from medusa_chat.training.hidden import HiddenStates
from medusa_chat.training.reliability import reliability
from medusa_chat.training.static_tree import best_paths
from medusa_chat.training.walk import accepted_at, tokens_per_step

SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Nodes of the trees that are looked at, root included."""
RANKS = 10
"""Guesses looked at per head; as many as decoding takes unless told otherwise."""


def calibrate(heads: MedusaHeads, states: HiddenStates, on_stage: Callable[[str], None]) -> Calibration:
    """Everything but the budget, which needs the machine's costs (`choose_budget`).

    Args:
        states: hidden states of held-out answers.
    """
    on_stage("guesses")
    table = tabulate(heads, states, min(RANKS, heads.output.shape[-2]))
    on_stage("reliability")
    curves = tuple(reliability(table, head) for head in range(heads.count))
    on_stage("static trees")
    paths = best_paths(table, SIZES[-1] - 1)
    on_stage("dynamic trees")
    shape = DynamicShape(Calibration(accuracy=(), reliability=curves))
    reached = accepted_at(table, shape, SIZES[-1])
    return Calibration(
        accuracy=accuracy(table),
        reliability=curves,
        trees={size: tuple(paths[: size - 1]) for size in SIZES},
        expected={size: round(tokens_per_step(reached, table, size), 4) for size in SIZES},
        budget=1,
        positions=len(table),
    )


def accuracy(table: GuessTable) -> tuple[tuple[float, ...], ...]:
    """[heads][ranks]: share of the rows in which the answer went on where that guess was right."""
    shares = []
    for head in range(table.ranks.shape[1]):
        found = table.ranks[:, head]
        there = found >= 0
        counts = torch.bincount(found[there], minlength=table.width)[: table.width]
        shares.append(tuple(round(count / max(1, int(there.sum())), 5) for count in counts.tolist()))
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of a step, by number of nodes; drafting included from 2 nodes on."""

    ms: Mapping[int, float]

    def overhead(self, budget: int) -> float:
        return self.ms[budget] / self.ms[1]


def measure_cost(backbone: Backbone, heads: MedusaHeads, calibration: Calibration, repeats: int = 9) -> Cost:
    """Time steps of every size on this machine, now; run it while nothing else does."""
    ms = {1: step_ms(backbone, 1, repeats)}
    hidden = torch.zeros(backbone.hidden_size, dtype=backbone.dtype, device=backbone.device)
    shape = DynamicShape(calibration)
    for size in SIZES:
        times = []
        for _ in range(repeats):
            # A pass over the whole model, as before every draft: heads found in the cache look several times cheaper.
            backbone.verify(CandidateTree.root_only(0))
            began = perf_counter()
            shape.build(0, heads.guess(hidden, 0, heads.count, RANKS), size)
            times.append(1000.0 * (perf_counter() - began))
        ms[size] = step_ms(backbone, size, repeats) + median(times)
    return Cost({size: round(value, 3) for size, value in ms.items()})


def choose_budget(expected: Mapping[int, float], cost: Cost) -> int:
    """The number of nodes with most tokens per second; 1 (plain decoding) where drafting would lose."""
    gain = {1: 1.0, **{size: length / cost.overhead(size) for size, length in expected.items()}}
    return max(gain, key=lambda size: (gain[size], -size))
