"""The figures of an answer, from its steps. Free of torch: the screen folds live steps with the same code."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    """Grows by one step at a time.

    The words are those of the Medusa paper (section 2): speedup = acceleration rate / overhead.
    """

    plain_ms: float | None = None
    """Milliseconds of a plain step on this machine in this run, the mean of what the steps say of it as soon as one
    does; None leaves overhead and speedup unknown."""
    tokens: int = 0
    steps: int = 0
    ms: float = 0.0
    lengths: dict[int, int] = field(default_factory=dict)
    """Accepted length -> number of steps."""
    _known: int = 0
    _plain: float = 0.0
    """Steps that said what a plain one takes, and the sum of it."""

    def add(self, accepted_length: int, ms: float, plain_ms: float | None = None) -> None:
        """One more step; `plain_ms` is what a plain one would have taken in its place, where that is known."""
        if plain_ms is not None:
            self._known += 1
            self._plain += plain_ms
            self.plain_ms = self._plain / self._known
        self.tokens += accepted_length
        self.steps += 1
        self.ms += ms
        self.lengths[accepted_length] = self.lengths.get(accepted_length, 0) + 1

    @property
    def acceleration_rate(self) -> float | None:
        """Tokens per step."""
        return self.tokens / self.steps if self.steps else None

    @property
    def step_ms(self) -> float | None:
        return self.ms / self.steps if self.steps else None

    @property
    def tokens_per_second(self) -> float | None:
        return 1000.0 * self.tokens / self.ms if self.ms else None

    @property
    def overhead(self) -> float | None:
        """Time of a step / time of a plain step."""
        return self.step_ms / self.plain_ms if self.step_ms is not None and self.plain_ms else None

    @property
    def speedup(self) -> float | None:
        rate, overhead = self.acceleration_rate, self.overhead
        return rate / overhead if rate is not None and overhead else None
