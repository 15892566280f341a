"""No drafting: the loop becomes plain decoding."""

from __future__ import annotations

from medusa_chat.engine.backbone import Readout
from medusa_chat.engine.budget import Budget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.step import Step
from medusa_chat.engine.tree import CandidateTree


class Plain:
    """Proposes the root alone."""

    def propose(self, context: DraftContext, budget: Budget) -> CandidateTree:
        return CandidateTree.root_only(context.root)

    def observe(self, step: Step, readout: Readout) -> None:
        """Nothing to learn."""
