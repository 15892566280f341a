"""Prompt lookup: what followed the last time these tokens stood in the conversation.

The idea is prompt lookup decoding (apoorvumang/prompt-lookup-decoding, 2023); here the latest match wins, long
matches before short ones, and found by a table instead of a scan.
"""

from __future__ import annotations

from collections.abc import Sequence

from medusa_chat.engine.budget import Budget
from medusa_chat.engine.drafters.base import DraftContext
from medusa_chat.engine.step import Step
from medusa_chat.engine.tree import CandidateTree

MATCH_LENGTHS = (3, 2)


class PromptLookup:
    """One per answer: the table grows with the conversation."""

    def __init__(self) -> None:
        self._following: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._proposed: CandidateTree | None = None
        self._kept, self._tried = 1, 2
        """Laplace's rule: before anything is seen a guess is right half of the time."""

    def propose(self, context: DraftContext, budget: Budget) -> CandidateTree:
        """A chain: the tokens after the latest earlier match; the root alone when nothing matches."""
        self._index(context.ids)
        start = self._match(context.ids)
        guessed = [] if start is None else list(context.ids[start : start + budget.limit - 1])
        chance = self._kept / self._tried
        chain = CandidateTree.build([context.root, *guessed], range(-1, len(guessed)), [1.0, *[chance] * len(guessed)])
        self._proposed = chain.first(budget.nodes(chain.worths()))
        return self._proposed

    def observe(self, step: Step) -> None:
        """Counts how often a guess holds given that the one before it held."""
        if step.tree is not self._proposed:
            return
        kept = len(step.path) - 1
        self._kept += kept
        self._tried += min(kept + 1, len(step.tree) - 1)

    def _index(self, ids: Sequence[int]) -> None:
        """Remember, for every run of tokens that something already follows, where that something starts."""
        for end in range(self._indexed, len(ids)):
            for length in MATCH_LENGTHS:
                if end >= length:
                    self._following[tuple(ids[end - length : end])] = end
        self._indexed = len(ids)

    def _match(self, ids: Sequence[int]) -> int | None:
        for length in MATCH_LENGTHS:
            if len(ids) > length and (start := self._following.get(tuple(ids[-length:]))) is not None:
                return start
        return None
