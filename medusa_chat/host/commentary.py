"""What the screen is told of a comparison: every lane's steps and end, and in the end where they part. Free of torch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from medusa_chat.engine.options import Reason
from medusa_chat.engine.statistics import Tally
from medusa_chat.host.batch import Batch
from medusa_chat.host.messages import (
    Compare,
    Compared,
    Event,
    LaneEnded,
    LaneStepped,
    Parting,
    Statistics,
    StepRecord,
)
from medusa_chat.host.partings import first_difference
from medusa_chat.host.seam import ServedComparison


@dataclass(slots=True)
class _Lane:
    """What one lane has done so far."""

    batch: Batch
    tally: Tally
    tokens: list[int] = field(default_factory=list)
    reason: Reason | None = None

    @property
    def cut(self) -> bool:
        """Stopped before it came to its end."""
        return self.reason == "cancelled"


class Commentary:
    """Steps are batched by lane to the screen's frame rate; none is dropped."""

    def __init__(
        self, request: Compare, comparison: ServedComparison, plain_ms: float, send: Callable[[Event], None]
    ) -> None:
        """`plain_ms` of a plain step, until the lanes have timed better."""
        self._answer = request.answer
        self._comparison = comparison
        self._send = send
        self._lanes = [_Lane(self._batch(number), Tally(plain_ms)) for number in range(len(request.lanes))]
        self._plain = next(
            (
                lane.tally
                for lane, asked in zip(self._lanes, request.lanes, strict=True)
                if asked.decoding.decoder == "plain"
            ),
            None,
        )

    def add(self, number: int, step: StepRecord) -> None:
        """A lane has taken a step, perhaps its last."""
        lane = self._lanes[number]
        lane.tokens += step.tokens
        lane.tally.add(len(step.tokens), step.ms, step.plain_ms)
        lane.batch.add(step)
        if step.finish is not None:
            self._end(number, step.finish, "")

    def flush(self) -> None:
        """Send all steps so far, now."""
        for lane in self._lanes:
            lane.batch.flush()

    def close(self) -> None:
        """The race is over, or was stopped: lanes still running end here."""
        for number, lane in enumerate(self._lanes):
            if lane.reason is None:
                self._end(number, "cancelled", self._comparison.cancel(number))
        self._send(Compared(self._answer, tuple(self._parting(lane) for lane in self._lanes)))

    def _batch(self, number: int) -> Batch:
        return Batch(lambda steps: self._send(LaneStepped(self._answer, number, steps)))

    def _end(self, number: int, reason: Reason, text: str) -> None:
        lane = self._lanes[number]
        lane.reason = reason
        lane.batch.flush()
        statistics = Statistics(
            prompt_tokens=self._comparison.prompt_tokens,
            tokens=lane.tally.tokens,
            steps=lane.tally.steps,
            seconds=lane.tally.ms / 1000,
            prefill_seconds=self._comparison.prefill_seconds,
            plain_ms=self._plain_ms(lane.tally),
        )
        self._send(LaneEnded(self._answer, number, reason, statistics, text))

    def _plain_ms(self, tally: Tally) -> float:
        """The mean step of the plain lane so far: it has had as much time as the one that ends. Where there is no plain
        lane, what this lane's steps say of it."""
        measured = tally.plain_ms if self._plain is None else self._plain.step_ms or self._plain.plain_ms
        return measured or 0.0

    def _parting(self, lane: _Lane) -> Parting | None:
        first = self._lanes[0]
        difference = first_difference(first.tokens, lane.tokens, cut=(first.cut, lane.cut))
        if difference is None:
            return None
        return self._comparison.parting(first.tokens[: difference.index], difference)
