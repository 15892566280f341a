"""A comparison as it happens: engine events folded into one tally, text and clock a lane. No widget is known here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from medusa_chat.engine.options import Reason
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.messages import (
    ChatMessage,
    Compared,
    Event,
    Failed,
    Lane,
    LaneEnded,
    LaneStepped,
    Parting,
    Progress,
    StepRecord,
)


@dataclass(slots=True)
class LaneRun:
    """What one lane has done. Times are the engine's, of this lane alone, without reading the prompt."""

    lane: Lane
    tally: Tally = field(default_factory=Tally)
    text: str = ""
    reason: Reason | None = None
    parted: int | None = None
    """Character of the text that is the first the first lane does not have; None as long as there is none."""
    parting: Parting | None = None
    """As the engine found it, by tokens, when all was over."""
    _clock: list[float] = field(default_factory=list)
    """Milliseconds gone after each step, and the tokens won by then."""
    _won: list[int] = field(default_factory=list)
    _same: int = 0
    """Characters known to be those of the first lane."""

    @property
    def plain(self) -> bool:
        return self.lane.decoding.decoder == "plain"

    @property
    def ended(self) -> bool:
        return self.reason is not None

    def tokens_at(self, ms: float) -> int:
        """Tokens this lane had won when it had used that much time."""
        steps = bisect_right(self._clock, ms)
        return self._won[steps - 1] if steps else 0

    def add(self, step: StepRecord) -> None:
        self.tally.add(len(step.tokens), step.ms, step.plain_ms)
        self._clock.append(self.tally.ms)
        self._won.append(self.tally.tokens)
        self.text += step.text

    def hold_against(self, first: LaneRun) -> None:
        """Go on looking for the first different character; what one has and the other has not yet is no difference."""
        if self.parted is not None:
            return
        end = min(len(self.text), len(first.text))
        while self._same < end and self.text[self._same] == first.text[self._same]:
            self._same += 1
        complete = (len(self.text) == end and self.finished) or (len(first.text) == end and first.finished)
        if self._same < end or (complete and len(self.text) != len(first.text)):
            self.parted = self._same

    @property
    def finished(self) -> bool:
        """Ended by itself: there would be no more text."""
        return self.reason is not None and self.reason != "cancelled"


class Comparison:
    """One run. `changes` grows with every event, so that whoever draws knows whether there is anything new."""

    def __init__(
        self, answer: int, messages: Sequence[ChatMessage], lanes: Sequence[Lane], plain_ms: float | None
    ) -> None:
        """`plain_ms` of the loaded model, the measure until the lanes have timed better."""
        self.answer = answer
        self.messages = tuple(messages)
        self.runs = tuple(LaneRun(lane, Tally(plain_ms=plain_ms)) for lane in lanes)
        self.stage: Progress | None = None
        self.failure: str | None = None
        self.over = False
        self.stopping = False
        """The person has asked for its end."""
        self.changes = 0

    @property
    def running(self) -> bool:
        return not self.over and self.failure is None

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return tuple(run.lane for run in self.runs)

    @property
    def stopped(self) -> bool:
        """Cut short by the person."""
        return any(run.reason == "cancelled" for run in self.runs)

    @property
    def baseline(self) -> LaneRun | None:
        """The plain lane that the others are measured by; None where none runs along."""
        return next((run for run in self.runs if run.plain), None)

    @property
    def clock(self) -> float:
        """Milliseconds every lane has had, or could have had: one that has ended holds nobody back."""
        waiting = [run.tally.ms for run in self.runs if not run.ended]
        return min(waiting) if waiting else max((run.tally.ms for run in self.runs), default=0.0)

    @property
    def winner(self) -> LaneRun | None:
        """The first to come to its end by itself, by its own clock."""
        finished = [run for run in self.runs if run.finished and run.tally.ms <= self.clock]
        return min(finished, key=lambda run: run.tally.ms, default=None)

    def take(self, event: Event) -> None:
        """Fold an event of this comparison."""
        self.changes += 1
        if isinstance(event, Progress):
            self.stage = event
        elif isinstance(event, Failed):
            self.failure, self.stage = event.advice, None
        elif isinstance(event, LaneStepped):
            self.stage = None
            for step in event.steps:
                self.runs[event.lane].add(step)
            self._hold_against_first()
        elif isinstance(event, LaneEnded):
            run = self.runs[event.lane]
            run.reason = event.reason
            run.text += event.text
            self._hold_against_first()
        elif isinstance(event, Compared):
            self.over, self.stage = True, None
            for run, parting in zip(self.runs, event.partings, strict=True):
                run.parting = parting

    def _hold_against_first(self) -> None:
        first, *others = self.runs
        for run in others:
            run.hold_against(first)
        if (baseline := self.baseline) is not None and baseline.tally.steps:
            for run in self.runs:
                run.tally.plain_ms = baseline.tally.step_ms
