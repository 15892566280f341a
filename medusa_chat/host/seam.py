"""The seam between the service, which is free of torch, and a loaded model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.host.messages import Compare, Generate, Load, Loaded, Parting, StepRecord
from medusa_chat.host.partings import Difference


class ServedAnswer(Protocol):
    """An answer on its way (`host.served` makes them from `host.session.Answer`)."""

    @property
    def prompt_tokens(self) -> int: ...

    @property
    def prefill_seconds(self) -> float: ...

    def __iter__(self) -> Iterator[StepRecord]:
        """One record a step. Leaving off between two steps is always safe."""
        ...

    def adjust(self, decoding: Decoding, sampling: Sampling | None) -> None:
        """From the next step on. Raises MedusaError, and changes nothing, where this model cannot."""
        ...

    def cancel(self) -> str:
        """End the answer; the text that was still held back."""
        ...


class ServedComparison(Protocol):
    """Several answers to one conversation on their way (`host.served` makes them from `host.comparison`)."""

    @property
    def prompt_tokens(self) -> int: ...

    @property
    def prefill_seconds(self) -> float: ...

    def __iter__(self) -> Iterator[tuple[int, StepRecord]]:
        """One record a turn, with the number of the lane whose turn it was. Leaving off between two is always safe."""
        ...

    def cancel(self, lane: int) -> str:
        """End a lane's answer; the text that was still held back."""
        ...

    def parting(self, before: Sequence[int], difference: Difference) -> Parting:
        """Where two answers part that both begin with the tokens `before`. To be asked when the race is over."""
        ...


class ServedSession(Protocol):
    """A loaded model. `on_progress(done, total)` tells prompt tokens read and may raise to stop the reading."""

    def loaded(self) -> Loaded: ...

    def answer(self, request: Generate, on_progress: Callable[[int, int], None]) -> ServedAnswer:
        """Raises MedusaError where this model cannot do what is asked."""
        ...

    def compare(self, request: Compare, on_progress: Callable[[int, int], None]) -> ServedComparison:
        """Raises MedusaError where this model cannot do what a lane asks; nothing has run then."""
        ...


OnProgress = Callable[[str, float | None], None]
"""Told the stage, and how much of it is done: 0..1, None while unknown."""

OpenSession = Callable[[Load, OnProgress], ServedSession]
