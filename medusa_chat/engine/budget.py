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

    @property
    def least_worths(self) -> Sequence[float]:
        """Where a search may stop: a guessed node of less worth than stands at its number would not be verified, nor
        would any after it. Nodes beyond its end may have any worth."""
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

    @property
    def least_worths(self) -> Sequence[float]:
        """Any worth will do."""
        return ()

    def nodes(self, worths: Sequence[float]) -> int:
        return min(self.limit, len(worths) + 1)

    def observe(self, step: Step) -> None:
        """Nothing to learn."""
