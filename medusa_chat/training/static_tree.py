"""The best tree of fixed rank paths, counted on held-out answers."""

from __future__ import annotations

import torch

from medusa_chat.engine.shapes.base import RankPath
from medusa_chat.training.guess_table import GuessTable


def best_paths(table: GuessTable, count: int) -> list[RankPath]:
    """Up to `count` rank paths, best first; the first n of them are the tree of n+1 nodes.

    Adds, one at a time, the path that is right in most rows among those that continue the tree. Counted, not multiplied
    from the heads' separate accuracies, so that heads being right together counts (unlike Medusa's `gen_results.py`).
    """
    heads, ranks = table.ranks.shape[1], table.width
    everywhere = torch.ones(len(table), dtype=torch.bool)
    rows: dict[RankPath, torch.Tensor] = {(): everywhere}
    chances: dict[RankPath, int] = _children((), everywhere, table)
    paths: list[RankPath] = []
    while chances and len(paths) < count:
        path = max(chances, key=lambda one: (chances[one], -len(one), [-rank for rank in one]))
        if chances.pop(path) == 0:
            break
        paths.append(path)
        if len(path) < heads:
            rows[path] = rows[path[:-1]] & (table.ranks[:, len(path) - 1] == path[-1])
            chances.update(_children(path, rows[path], table))
    assert all(rank < ranks for path in paths for rank in path)
    return paths


def _children(path: RankPath, reached: torch.Tensor, table: GuessTable) -> dict[RankPath, int]:
    """Every path one step longer and the number of rows in which all of it is right."""
    found = table.ranks[reached, len(path)]
    counts = torch.bincount(found[found >= 0], minlength=table.width)
    return {(*path, rank): int(counts[rank]) for rank in range(table.width)}
