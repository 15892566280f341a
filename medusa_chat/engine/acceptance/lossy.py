"""Rules that keep any plausible token: faster at high temperature, and another distribution than plain sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from medusa_chat.engine.sampling import Posterior
from medusa_chat.engine.step import Rejection, Verdict


@dataclass(frozen=True, slots=True)
class Typical:
    """Keep a child whose probability exceeds min(epsilon, delta * exp(-entropy)) of its parent's distribution.

    Medusa paper, section 3.3.1. The distribution is the warped one, so at temperature 0 (one-hot) this is greedy.
    Of all paths that hold throughout the longest is kept, among equals the most likely.
    """

    epsilon: float = 0.09
    delta: float = 0.3

    def accept(self, posterior: Posterior) -> Verdict:
        return _longest(posterior, self._bound)

    def _bound(self, distribution: Tensor) -> tuple[float, float | None]:
        entropy = float(torch.special.entr(distribution).sum())
        return min(self.epsilon, self.delta * math.exp(-entropy)), entropy


@dataclass(frozen=True, slots=True)
class Threshold:
    """Keep a child whose probability under its parent's warped distribution exceeds a fixed bound."""

    threshold: float = 0.09

    def accept(self, posterior: Posterior) -> Verdict:
        return _longest(posterior, lambda _distribution: (self.threshold, None))


def _longest(posterior: Posterior, bound: Callable[[Tensor], tuple[float, float | None]]) -> Verdict:
    """Walk every path that holds; draw the token after the longest one."""
    tokens, children = posterior.tree.token_ids, posterior.tree.children()
    reasons: list[Rejection] = []
    best: tuple[int, float, tuple[int, ...]] = (1, 0.0, (0,))
    standing = [best]
    while standing:
        length, likelihood, path = standing.pop()
        if not (offered := children[path[-1]]):
            continue
        distribution = posterior.distribution(path[-1])
        needed, entropy = bound(distribution)
        for child, chance in zip(offered, distribution[[tokens[child] for child in offered]].tolist(), strict=True):
            if chance > needed:
                standing.append((length + 1, likelihood + math.log(chance), (*path, child)))
                best = max(best, standing[-1], key=lambda candidate: candidate[:2])
            else:
                reasons.append(Rejection(child, chance, needed, entropy))
    return Verdict(best[2], posterior.draw(best[2][-1]), tuple(reasons))
