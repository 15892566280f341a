"""One answer of one contestant with its times, and the seam every contestant stands behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from medusa_chat.bench.differences import Parting


@dataclass(frozen=True, slots=True)
class Timed:
    """Reading the prompt is timed apart, so that decoders are compared on decoding alone."""

    tokens: tuple[int, ...]
    """The whole answer, cut behind its end token."""
    decoded: int
    """Tokens that `seconds` covers: all of them, or all but the first where that one comes with the prompt."""
    steps: int
    """Forward passes that `seconds` covers."""
    seconds: float
    prefill_seconds: float


class Contestant(Protocol):
    """A decoder of ours or a peer. Always greedy."""

    @property
    def name(self) -> str: ...

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed: ...


@dataclass(frozen=True, slots=True)
class Sample:
    """What all contestants did with one question."""

    question: int
    category: str
    answers: dict[str, Timed]
    """By contestant."""
    partings: dict[str, Parting] = field(default_factory=dict)
    """By contestant: where an answer leaves that of plain decoding; those that do not are not listed."""
