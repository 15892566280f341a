"""How far a drafter's word holds: worths as said against what was accepted, kept up while answers run."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

BOUNDS = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7)
"""Worths between two of these are judged together: products of skewed factors go wrong the more the longer they are."""
WINDOW = 64.0
"""Steps after which an observation has lost most of its weight."""
DOUBT = 4.0
"""Guesses said to hold that must have been checked before what held counts as much as what was said."""
MOST = 3.0


class Trust:
    """For each range of worths the ratio of guesses that held to guesses said to hold, lately.

    A range with few observations leans on all ranges together, and those on the drafter's word.
    """

    def __init__(self) -> None:
        self._held = [0.0] * (len(BOUNDS) + 1)
        self._said = [0.0] * (len(BOUNDS) + 1)
        self._factors = [1.0] * (len(BOUNDS) + 1)

    def corrected(self, worths: Sequence[float]) -> list[float]:
        """What these worths have come to mean, each at most 1."""
        return [min(worth * self._factors[bisect_right(BOUNDS, worth)], 1.0) for worth in worths]

    @property
    def most(self) -> float:
        """No worth means more than this many times what it says, nor than it says."""
        return max(1.0, *self._factors)

    def observe(self, worths: Sequence[float], held: Sequence[int]) -> None:
        """Args: the worths of all guessed nodes that were verified, and which of them held (counted from 0)."""
        keep = 1.0 - 1.0 / WINDOW
        self._held = [keep * value for value in self._held]
        self._said = [keep * value for value in self._said]
        ranges = [bisect_right(BOUNDS, worth) for worth in worths]
        for at, worth in zip(ranges, worths, strict=True):
            self._said[at] += worth
        for node in held:
            self._held[ranges[node]] += 1.0
        overall = (sum(self._held) + DOUBT) / (sum(self._said) + DOUBT)
        self._factors = [
            min((held_ + DOUBT * overall) / (said + DOUBT), MOST)
            for held_, said in zip(self._held, self._said, strict=True)
        ]
