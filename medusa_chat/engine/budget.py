"""How many nodes a step may verify: the seam between whatever guesses ahead and what a row costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from medusa_chat.engine.step import Step


class Budget(Protocol):
    """Asked once before drafting (`limit`) and once when the guesses are known (`nodes`)."""

    @property
    def limit(self) -> int:
        """Most nodes a tree may have now, root included; 1 = do not draft at all."""
        ...

    def nodes(self, worths: Sequence[float]) -> int:
        """How many nodes to verify, root included: 1..min(limit, len(worths) + 1).

        Args:
            worths: for the guessed nodes, best first, never rising: the probability (product along the path) that
                the node is accepted.
        """
        ...

    def observe(self, step: Step) -> None:
        """Called after every step, also after steps that drafted nothing."""
        ...


@dataclass(frozen=True, slots=True)
class FixedBudget:
    """The number of nodes somebody chose, whatever it costs."""

    limit: int

    def nodes(self, worths: Sequence[float]) -> int:
        return min(self.limit, len(worths) + 1)

    def observe(self, step: Step) -> None:
        """Nothing to learn."""
