"""The best N nodes for this very step: highest product of calibrated head probabilities first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

import numpy as np

from medusa_chat.engine.budget import FixedBudget
from medusa_chat.engine.drafters.guesses import Guesses
from medusa_chat.engine.drafters.search import Offer, Stream, best_first
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.tree import CandidateTree


class DynamicShape:
    """Best-first search (`drafters.search`) over the heads' guesses.

    Heads are taken as independent given the hidden state: any guess of a head may follow any guess of the head before.
    """

    def __init__(self, calibration: Calibration | None = None) -> None:
        """Without a calibration the heads' own probabilities are taken at their word."""
        curves = () if calibration is None else calibration.reliability
        self._curves = [(np.array(curve.raw), np.array(curve.observed)) for curve in curves]

    def build(self, root: int, guesses: Guesses, budget: int) -> CandidateTree:
        return best_first(root, _HeadsAlone(self.offers(guesses)), FixedBudget(budget))

    def offers(self, guesses: Guesses) -> list[list[Offer]]:
        """Per head its guesses with what their probabilities are worth, likeliest first."""
        tokens, probabilities = guesses.tokens.tolist(), guesses.probabilities.numpy()
        offers = []
        for head, row in enumerate(tokens):
            worth = probabilities[head]
            if head < len(self._curves):
                worth = np.interp(worth, *self._curves[head])
            offers.append(list(zip(row, worth.tolist(), repeat(f"head {head + 1}"), strict=False)))
        return offers


class _HeadsAlone:
    """The `Guide` through heads' guesses: what may follow depends on the depth alone."""

    def __init__(self, offers: Sequence[Sequence[Offer]]) -> None:
        self._streams = [[(row, 1.0, ())] for row in offers]

    def begin(self) -> tuple[None, Sequence[Stream]]:
        return self.follow(None, 0, 0)

    def follow(self, _state: None, _token: int, depth: int) -> tuple[None, Sequence[Stream]]:
        return None, self._streams[depth] if depth < len(self._streams) else ()
