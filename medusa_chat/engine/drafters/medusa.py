"""Medusa heads as a drafter: guesses from one hidden state, combined by a tree shape."""

from __future__ import annotations

from dataclasses import dataclass

from medusa_chat.engine.backbone import Readout
from medusa_chat.engine.budget import Budget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.drafters.guesses import HeadModel
from medusa_chat.engine.shapes.base import TreeShape
from medusa_chat.engine.step import Step
from medusa_chat.engine.tree import CandidateTree


@dataclass(frozen=True, slots=True)
class Medusa:
    """Runs the heads on one row only, the last kept token (Medusa paper, section 3.1)."""

    model: HeadModel
    shape: TreeShape
    heads: int
    """How many heads draft; more than there are means all."""
    top_k: int
    """Candidates taken from each head."""

    def propose(self, context: DraftContext, budget: Budget) -> CandidateTree:
        if context.hidden is None or budget.limit == 1:
            return CandidateTree.root_only(context.root)
        guesses = self.model.guess(context.hidden, context.root, min(self.heads, self.model.count), self.top_k)
        tree = self.shape.build(context.root, guesses, budget.limit)
        # A fixed shape's order is not quite the order of this step's worths.
        return tree.first(budget.nodes(sorted(tree.worths(), reverse=True)))

    def observe(self, step: Step, readout: Readout) -> None:
        """Heads learn nothing while decoding."""
