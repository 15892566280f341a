"""Measure heads on held-out answers and choose their trees."""

from __future__ import annotations

from collections.abc import Callable

import torch

from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.dynamic import DynamicShape
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
    """Everything but the budget, which needs the machine's costs (`CostCurve.best`).

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
