"""The seam between the loop and whatever guesses ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from medusa_chat.engine.backbone import Readout
from medusa_chat.engine.budget import Budget
from medusa_chat.engine.step import Step
from medusa_chat.engine.tree import CandidateTree


@dataclass(frozen=True, slots=True)
class DraftContext:
    """All a drafter may look at."""

    ids: Sequence[int]
    """Every committed token, prompt included; the last one is the root of the step to come. Not to be kept or changed."""
    hidden: Tensor | None
    """[hidden_size], the backbone's last normed hidden state of the token before the root, in the backbone's dtype and
    on its device; None when the root is the very first token."""

    @property
    def root(self) -> int:
        return self.ids[-1]


class Drafter(Protocol):
    """Proposes a tree for every step and is told what became of it."""

    def propose(self, context: DraftContext, budget: Budget) -> CandidateTree:
        """A tree of at most `budget.limit` nodes whose root is `context.root`, cut to `budget.nodes`."""
        ...

    def observe(self, step: Step, readout: Readout) -> None:
        """What became of the tree, after every step.

        Args:
            readout: what the backbone said about each node of `step.tree`.
        """
        ...
