"""Answers without a model: chances and costs are given, the clock is arithmetic, and a budget decides in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from medusa_chat.engine.budget import Budget
from medusa_chat.engine.cost import SIZES, CostCurve
from medusa_chat.engine.step import Step, Timings
from medusa_chat.engine.tree import CandidateTree


@dataclass
class World:
    """A drafter that guesses chains, and a machine."""

    chance: Callable[[int, Random], float]
    """(tokens so far, draw) -> how likely each next guess holds, given that the one before did."""
    pass_ms: Callable[[int], float]
    """By number of nodes."""
    draft_ms: float = 0.0
    says: Callable[[float], float] = lambda chance: chance
    """What the drafter says of a guess of that chance."""
    slowdown: Callable[[int], float] = lambda position: 1.0
    """How much slower than measured the machine is by then."""
    nodes: list[int] = field(default_factory=list)
    """Of every step of the newest answer; 0 where nothing was drafted."""

    def curve(self) -> CostCurve:
        return CostCurve.of({size: self.pass_ms(size) for size in SIZES}, self.draft_ms)

    def tokens_per_ms(self, budget: Budget, tokens: int, seed: int = 1) -> float:
        """Write that many tokens. Passes vary by a tenth, and one in a hundred takes four times as long."""
        clock = Random(seed)
        position, time = 0, 0.0
        self.nodes = []
        while position < tokens:
            draw = Random(1_000_003 * seed + position)
            step = self._step(budget, position, draw, clock)
            budget.observe(step)
            position += len(step.tokens)
            time += step.ms.total
        return position / time

    def _step(self, budget: Budget, position: int, draw: Random, clock: Random) -> Step:
        chance = self.chance(position, draw)
        nodes, drafted = 1, budget.limit > 1
        if drafted:
            nodes = budget.nodes([self.says(chance) ** depth for depth in range(1, budget.limit)])
        self.nodes.append(nodes if drafted else 0)
        held = 0
        while held < nodes - 1 and draw.random() < chance:
            held += 1
        tree = CandidateTree.build([0] * nodes, range(-1, nodes - 1), [1.0, *[self.says(chance)] * (nodes - 1)])
        slow = self.slowdown(position) * (0.95 + 0.1 * clock.random()) * (4.0 if clock.random() < 0.01 else 1.0)
        ms = Timings(draft=self.draft_ms * self.slowdown(position) * drafted, verify=self.pass_ms(nodes) * slow)
        return Step(len(self.nodes), tree, tuple(range(held + 1)), (0,) * (held + 1), ms)
