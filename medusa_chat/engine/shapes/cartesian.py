"""The full Cartesian product of the heads' top-k, as in the Medusa paper's first tree (section 3.1.2)."""

from __future__ import annotations

from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.shapes.base import RankPath
from medusa_chat.engine.shapes.paths import PathShape
from medusa_chat.engine.tree import CandidateTree


class CartesianShape:
    """Every combination of every head's candidates, level by level, as far as the budget reaches."""

    def build(self, root: int, guesses: Guesses, budget: int) -> CandidateTree:
        heads, top_k = guesses.tokens.shape
        return PathShape(_product(heads, top_k, budget - 1)).build(root, guesses, budget)


def _product(heads: int, top_k: int, count: int) -> list[RankPath]:
    """The first `count` rank paths in level order."""
    paths: list[RankPath] = []
    level: list[RankPath] = [()]
    for _ in range(heads):
        level = [(*path, rank) for path in level for rank in range(top_k)][: max(count - len(paths), 0)]
        paths += level
    return paths
