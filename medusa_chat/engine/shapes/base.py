"""The seam between heads and trees."""

from __future__ import annotations

from typing import Protocol

from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.tree import CandidateTree

RankPath = tuple[int, ...]
"""A node as the ranks that lead to it: (0, 2) is head 1's best guess, then head 2's third (`medusa_choices` notation)."""


class TreeShape(Protocol):
    """Chooses which combinations of guesses are worth a row of the forward pass."""

    def build(self, root: int, guesses: Guesses, budget: int) -> CandidateTree:
        """At most `budget` nodes, root included. Ranks or depths the guesses do not reach are left out."""
        ...
