"""The seam between a verified tree and what is kept of it."""

from __future__ import annotations

from typing import Protocol

from medusa_chat.engine.sampling import Posterior
from medusa_chat.engine.step import Verdict


class AcceptanceRule(Protocol):
    """Decides along the tree `posterior.tree`; stateless, so it can be swapped between two steps."""

    def accept(self, posterior: Posterior) -> Verdict:
        """The kept path (at least the root), the token after it, and why looked-at children fell."""
        ...
