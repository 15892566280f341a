"""How often guesses of each kind come true: what was measured before, corrected by what this text shows."""

from __future__ import annotations

from collections.abc import Sequence


class Rates:
    """One Beta distribution a kind; a kind's probability is its mean.

    A prior of mean m and strength s counts like s guesses of which m s came true; every guess seen later counts one.
    """

    def __init__(self, priors: Sequence[float], strength: float) -> None:
        """
        Args:
            priors: probability of each kind before anything is seen.
            strength: how many seen guesses a prior is worth.
        """
        self.means = list(priors)
        """Per kind: the probability that a guess of this kind comes true."""
        self._counts = [strength] * len(self.means)

    def learn(self, kind: int, came_true: bool) -> None:
        """A guess of this kind was put to the test."""
        self._counts[kind] += 1.0
        self.means[kind] += (came_true - self.means[kind]) / self._counts[kind]
