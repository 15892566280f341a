"""What a recorded step would have kept under another rule, other thresholds or a smaller budget: from the record alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding
from medusa_chat.host.messages import BeliefRecord, StepRecord

_ROUNDING = 1e-3
"""Kept beliefs have three decimals of the favourite's probability, four of a node's."""


@dataclass(frozen=True, slots=True)
class Fallen:
    """A child that would be looked at and not kept, and the numbers that decide it."""

    node: int
    probability: float
    """The backbone's, of the child's token at its parent."""
    needed: float | None = None
    """The bound it would miss; None where the rule takes another token instead."""
    entropy: float | None = None
    """In nats, at the parent; only where the bound depends on it."""
    instead: str | None = None
    """Raw piece of the token taken in its place; None under a bound, and where nobody knows what would be drawn: then
    `probability` is the child's chance."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What would have happened. Where the answer would have ended is not looked at."""

    nodes: int
    """Those of the recorded tree that take part: the first ones, which are what a smaller budget drafts."""
    beyond: int
    """Nodes of a larger budget that nobody drafted, so nobody knows what they would have brought; or 0."""
    path: tuple[int, ...]
    fallen: tuple[Fallen, ...]
    same: bool
    """The recorded step kept just this path."""
    open: bool = False
    """The path may go on: what would be drawn after it is not known from the record."""
    chance: float | None = None
    """That draws keep this whole path; None where nothing is drawn."""
    expected: float | None = None
    """Tokens the step yields on average over all draws; None where nothing is drawn."""


def what_if(step: StepRecord, decoding: Decoding, *, greedy: bool = False, follower: str | None = None) -> WhatIf:
    """Judge the recorded tree by the rule, thresholds and budget of `decoding`; decoder `plain` drafts nothing.

    Args:
        greedy: as at temperature 0, where every rule keeps the likeliest token alone. Otherwise the beliefs count as
            they stand: those of the step's own temperature, at temperature 0 those of temperature 1.
        follower: raw piece of the token that came after the recorded path, where it is known.

    Raises:
        MedusaError: the step came without beliefs.
    """
    if step.beliefs is None:
        raise MedusaError(
            "What the model believed was not kept with this step: only newer answers can be asked what if."
        )
    size = len(step.tree.tokens)
    budget = 1 if decoding.decoder == "plain" else decoding.budget or size
    tree = _Tree(step, step.beliefs, min(budget, size), follower)
    if greedy or decoding.rule == "greedy":
        return tree.found(max(budget - size, 0), *tree.likeliest())
    if decoding.rule == "lossless":
        return tree.drawn(max(budget - size, 0))
    return tree.found(max(budget - size, 0), *tree.longest(_bound(decoding)))


_Bound = Callable[[float], tuple[float, float | None]]
"""From the entropy at a node to what its children need, and the entropy again where it counts."""


def _bound(decoding: Decoding) -> _Bound:
    if decoding.rule == "typical":
        return lambda entropy: (min(decoding.epsilon, decoding.delta * math.exp(-entropy)), entropy)
    return lambda _entropy: (decoding.threshold, None)


class _Tree:
    """The nodes that take part, and the rules of `engine.acceptance` told again in the record's own words."""

    def __init__(self, step: StepRecord, held: BeliefRecord, nodes: int, follower: str | None) -> None:
        self._step, self._held, self._nodes, self._follower = step, held, nodes, follower
        self._children: list[list[int]] = [[] for _ in range(nodes)]
        for node, parent in enumerate(step.tree.parents[1:nodes], start=1):
            self._children[parent].append(node)

    def found(self, beyond: int, path: tuple[int, ...], fallen: tuple[Fallen, ...]) -> WhatIf:
        return WhatIf(self._nodes, beyond, path, fallen, self._as_recorded(path))

    def likeliest(self) -> tuple[tuple[int, ...], tuple[Fallen, ...]]:
        """The favourite of each node, as long as it is a child."""
        path = [0]
        while (kept := self._favourite(path[-1])) is not None:
            path.append(kept)
        return tuple(path), self._others(path, lambda node: self._held.favourites[node])

    def longest(self, bound: _Bound) -> tuple[tuple[int, ...], tuple[Fallen, ...]]:
        """Of all paths whose every node exceeds the bound the longest, among equals the most likely."""
        fallen: list[Fallen] = []
        best: tuple[int, float, tuple[int, ...]] = (1, 0.0, (0,))
        standing = [best]
        while standing:
            length, likelihood, path = standing.pop()
            needed, entropy = bound(self._held.entropies[path[-1]])
            for child in self._children[path[-1]]:
                chance = self._held.probabilities[child]
                if chance > needed:
                    standing.append((length + 1, likelihood + math.log(chance), (*path, child)))
                    best = max(best, standing[-1], key=lambda candidate: candidate[:2])
                else:
                    fallen.append(Fallen(child, chance, needed, entropy))
        return best[2], tuple(fallen)

    def drawn(self, beyond: int) -> WhatIf:
        """Descend as far as the recorded draws lead."""
        draws = self._draws()
        path = [0]
        while (kept := self._child(path[-1], draws.get(path[-1]))) is not None:
            path.append(kept)
        follows = dict(
            zip(path, [*(self._step.tree.texts[node] for node in path[1:]), self._after(path[-1])], strict=True)
        )
        return WhatIf(
            self._nodes,
            beyond,
            tuple(path),
            self._others(path, lambda node: follows[node]),
            self._as_recorded(tuple(path)),
            open=path[-1] not in draws and bool(self._children[path[-1]]),
            chance=math.prod(self._held.probabilities[node] for node in path[1:]),
            expected=self._expected(),
        )

    def _favourite(self, node: int) -> int | None:
        """Two tokens may have the same text, but only the likeliest has the favourite's probability."""
        text, least = self._held.favourites[node], self._held.certainties[node] - _ROUNDING
        texts, chances = self._step.tree.texts, self._held.probabilities
        return next((c for c in self._children[node] if texts[c] == text and chances[c] >= least), None)

    def _others(self, path: list[int], taken: Callable[[int], str | None]) -> tuple[Fallen, ...]:
        """Children of the path that are not on it, with the token taken in their place."""
        return tuple(
            Fallen(child, self._held.probabilities[child], instead=taken(node))
            for node in path
            for child in self._children[node]
            if child not in path
        )

    def _draws(self) -> dict[int, int]:
        """The token drawn after a node, where the record tells: a lossy rule kept children nobody had drawn."""
        won = zip(self._step.path, self._step.tokens, strict=True)
        return dict(won) if not self._bounded else {self._step.path[-1]: self._step.tokens[-1]}

    def _child(self, node: int, token: int | None) -> int | None:
        return next((child for child in self._children[node] if self._step.tree.tokens[child] == token), None)

    def _after(self, node: int) -> str | None:
        """What is known to have been taken after a node that no child of these followed."""
        path = self._step.path
        if node == path[-1]:
            return self._follower
        if self._bounded or node not in path:
            return None
        return self._step.tree.texts[path[path.index(node) + 1]]

    def _expected(self) -> float:
        """Every node adds a token wherever the draws reach it."""
        reached = [1.0]
        for node in range(1, self._nodes):
            reached.append(reached[self._step.tree.parents[node]] * self._held.probabilities[node])
        return sum(reached)

    @property
    def _bounded(self) -> bool:
        """The step was recorded under a rule with a bound, as far as its reasons tell."""
        return any(reason.needed is not None for reason in self._step.reasons)

    def _as_recorded(self, path: tuple[int, ...]) -> bool:
        """Where an answer ends, its last step's path was cut before a node that had been kept."""
        step = self._step
        kept = len(step.path)
        if len(path) <= kept or self._bounded:
            return path == step.path
        return path[:kept] == step.path and step.tree.tokens[path[kept]] == step.tokens[-1]
