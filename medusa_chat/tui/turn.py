"""One question and its answer as they happen: engine events folded into plain values. No widget is known here."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from medusa_chat.engine.options import Reason
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import ChatMessage, Failed, Finished, Progress, Statistics, StepRecord, StepTaken

RECENT_STEPS = 20
"""The window that shows what a change of settings did, while the whole answer's figures move slowly."""

KEPT_LENGTHS = 512
"""Accepted lengths kept for the sparkline: more than the widest screen has columns."""

ENDINGS: dict[Reason, str] = {
    "eos": "complete",
    "length": "cut at the token limit",
    "stop": "ended at a stop string",
    "cancelled": "stopped",
}


@dataclass(slots=True)
class Kept:
    """Where a turn is kept on disk, by message id; None as long as it is not. The journal's thread fills it in."""

    question: int | None = None
    answer: int | None = None


@dataclass(slots=True)
class Turn:
    """Figures come from the engine's clock alone; nothing is timed on the screen's side."""

    answer: int
    question: str
    tally: Tally = field(default_factory=Tally)
    lengths: deque[int] = field(default_factory=lambda: deque(maxlen=KEPT_LENGTHS))
    last: StepRecord | None = None
    stage: Progress | None = None
    reason: Reason | None = None
    statistics: Statistics | None = None
    failure: str | None = None
    tested: int = 0
    """Guesses the backbone has looked at: all nodes of all trees but the roots."""
    first_token: float | None = None
    """Seconds from the question to the first token: reading the conversation and the first step."""
    kept: Kept = field(default_factory=Kept)
    wordings: tuple[int, int] = (1, 1)
    """The question's place among its siblings, from 1, and how many those are; kept up to date by the branches."""
    answers: tuple[int, int] = (1, 1)
    """The answer's, likewise."""
    steps: list[StepRecord] = field(default_factory=list)
    """Of the newest answer; older ones have theirs on disk alone (`Journal.steps`)."""
    _first_ms: float = 0.0
    _pieces: list[str] = field(default_factory=list)
    _recent: deque[tuple[int, float, float | None]] = field(default_factory=lambda: deque(maxlen=RECENT_STEPS))

    @classmethod
    def past(
        cls, question: str, text: str, tally: Tally, reason: Reason | None, failure: str | None, kept: Kept
    ) -> Turn:
        """One that has ended long ago; no event belongs to it any more."""
        return cls(0, question, tally, reason=reason, failure=failure, kept=kept, _pieces=[text])

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def running(self) -> bool:
        return self.reason is None and self.failure is None

    @property
    def recent(self) -> Tally:
        """The figures of the last `RECENT_STEPS` steps alone."""
        tally = Tally(plain_ms=self.tally.plain_ms)
        for length, ms, plain_ms in self._recent:
            tally.add(length, ms, plain_ms)
        return tally

    def take(self, event: StepTaken | Finished | Failed | Progress) -> None:
        """Fold an event of this turn's answer."""
        if isinstance(event, StepTaken):
            self.stage = None
            for step in event.steps:
                self._add(step)
        elif isinstance(event, Progress):
            self.stage = event
        elif isinstance(event, Finished):
            self.reason, self.statistics, self.stage = event.reason, event.statistics, None
            if self.tally.steps:
                self.first_token = event.statistics.prefill_seconds + self._first_ms / 1000
            self._pieces = [self.text + event.text]
        else:
            self.failure, self.stage = event.advice, None

    def _add(self, step: StepRecord) -> None:
        length = len(step.tokens)
        if not self.tally.steps:
            self._first_ms = step.ms
        self.tested += len(step.tree.tokens) - 1
        self.tally.add(length, step.ms, step.plain_ms)
        self.lengths.append(length)
        self._recent.append((length, step.ms, step.plain_ms))
        self._pieces.append(step.text)
        self.last = step
        self.steps.append(step)


def messages_of(turns: list[Turn], system: str = "") -> tuple[ChatMessage, ...]:
    """What the model is to read: the system prompt if there is one, every turn with an answer, and the last question.

    A question that failed without a word stays on the screen only: two questions in a row break some chat templates.
    """
    messages = [ChatMessage("system", system)] if system else []
    for number, turn in enumerate(turns, start=1):
        last = number == len(turns)
        if last or turn.text:
            messages.append(ChatMessage("user", turn.question))
        if not last and turn.text:
            messages.append(ChatMessage("assistant", turn.text))
    return tuple(messages)
