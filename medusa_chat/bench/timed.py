"""One answer of one contestant with its times, and the seam every contestant stands behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
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
    _: KW_ONLY
    first_token_seconds: float | None = None
    """From the question to the first token; None where that one comes with the prompt."""
    split: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds of all steps together by part (draft, verify, ...); empty where a contestant does not tell."""
    nodes: int | None = None
    """Of all trees together, roots included."""
    peak_bytes: int | None = None
    """The most memory its process has held so far; decoders that share a process share this figure."""

    @property
    def latency(self) -> float:
        """Seconds from the question to the end of the answer."""
        return self.prefill_seconds + self.seconds

    @property
    def first_token(self) -> float:
        """Seconds from the question to the first token."""
        return self.prefill_seconds if self.first_token_seconds is None else self.first_token_seconds


class Contestant(Protocol):
    """A decoder of ours or a peer. Always greedy."""

    @property
    def name(self) -> str: ...

    def answer(self, prompt_ids: Sequence[int], max_tokens: int) -> Timed:
        """Nothing another contestant or question left behind may spare it work; its own earlier turn may."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    """What all contestants did with one turn of one question."""

    question: int
    category: str
    answers: dict[str, Timed]
    """By contestant."""
    partings: dict[str, Parting] = field(default_factory=dict)
    """By contestant: where an answer leaves that of plain decoding; those that do not are not listed."""
    turn: int = 1
    """Counts from 1."""
