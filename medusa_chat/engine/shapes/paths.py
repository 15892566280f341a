"""Trees of a fixed form: a list of rank paths, filled with each step's guesses."""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.shapes.base import RankPath
from medusa_chat.engine.tree import ROOT, CandidateTree

# fmt: off
PUBLISHED_63: tuple[RankPath, ...] = (
    (0,), (0, 0), (1,), (0, 1), (2,), (0, 0, 0), (1, 0), (0, 2), (3,), (0, 3), (4,), (0, 4), (2, 0), (0, 5),
    (0, 0, 1), (5,), (0, 6), (6,), (0, 7), (0, 1, 0), (1, 1), (7,), (0, 8), (0, 0, 2), (3, 0), (0, 9), (8,), (9,),
    (1, 0, 0), (0, 2, 0), (1, 2), (0, 0, 3), (4, 0), (2, 1), (0, 0, 4), (0, 0, 5), (0, 0, 0, 0), (0, 1, 1),
    (0, 0, 6), (0, 3, 0), (5, 0), (1, 3), (0, 0, 7), (0, 0, 8), (0, 0, 9), (6, 0), (0, 4, 0), (1, 4), (7, 0),
    (0, 1, 2), (2, 0, 0), (3, 1), (2, 2), (8, 0), (0, 5, 0), (1, 5), (1, 0, 1), (0, 2, 1), (9, 0), (0, 6, 0),
    (0, 0, 0, 1), (1, 6), (0, 7, 0),
)
# fmt: on
"""The tree published with Medusa for 7B models, best nodes first (FasterDecoding/Medusa, `mc_sim_7b_63`)."""


class PathShape:
    """Any `medusa_choices` list. A smaller budget keeps the first paths of the list."""

    def __init__(self, paths: Sequence[Sequence[int]]) -> None:
        """
        Raises:
            MedusaError: a path is empty, repeated, holds a negative rank, or stands before (or without) the path it
                continues.
        """
        self.paths: list[RankPath] = [tuple(path) for path in paths]
        seen: set[RankPath] = {()}
        for path in self.paths:
            if not path or path in seen or path[:-1] not in seen or min(path) < 0:
                raise MedusaError(
                    f"the tree's path {list(path)} is empty, repeated, negative or does not follow its own beginning; "
                    "list every beginning of a path before the path."
                )
            seen.add(path)

    def build(self, root: int, guesses: Guesses, budget: int) -> CandidateTree:
        """Paths deeper than the heads, or with ranks beyond their top-k, are left out with all that follows them."""
        heads, top_k = guesses.tokens.shape
        ids, chances = guesses.tokens.tolist(), guesses.probabilities.tolist()
        nodes: dict[RankPath, int] = {(): 0}
        tokens, parents, scores, sources = [root], [-1], [1.0], [ROOT]
        for path in self.paths:
            if len(tokens) == budget:
                break
            if len(path) > heads or path[-1] >= top_k or path[:-1] not in nodes:
                continue
            nodes[path] = len(tokens)
            parents.append(nodes[path[:-1]])
            tokens.append(ids[len(path) - 1][path[-1]])
            scores.append(chances[len(path) - 1][path[-1]])
            sources.append(f"head {len(path)}")
        return CandidateTree.build(tokens, parents, scores, sources)
