"""The lanes of a scripted comparison: fair turns by the times their steps carry, without an engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from doubles.step_records import END, steps_of

from medusa_chat.engine.options import Reason
from medusa_chat.host.messages import (
    Compare,
    Compared,
    Event,
    Lane,
    LaneEnded,
    LaneStepped,
    Parting,
    Statistics,
    StepRecord,
)

Reply = str | Sequence[StepRecord]

GAP = 0.25
"""Of the logits at every parting: there is no backbone to ask."""
PREFILL_SECONDS = 0.25


def lane_steps(reply: Reply, lane: Lane) -> list[StepRecord]:
    """A text as that lane would write it, plain decoding with one token a step; ready-made steps as they are."""
    if not isinstance(reply, str):
        return list(reply)
    return list(steps_of(reply, nodes=1) if lane.decoding.decoder == "plain" else steps_of(reply))


@dataclass(slots=True)
class _Lane:
    number: int
    waiting: list[StepRecord]
    taken: list[StepRecord] = field(default_factory=list)
    unsent: list[StepRecord] = field(default_factory=list)
    ended: bool = False

    @property
    def clock(self) -> float:
        """Milliseconds of its own."""
        return sum(step.ms for step in self.taken)

    def tokens(self) -> list[tuple[int, str]]:
        """With the pieces of those that a tree shows; the text of a step's last token is what its others leave."""
        found: list[tuple[int, str]] = []
        for step in self.taken:
            pieces = [step.tree.texts[node] for node in step.path[1:]]
            rest = step.text.removeprefix("".join(pieces))
            found += zip(step.tokens, [*pieces, rest or END], strict=True)
        return found


class ScriptedRace:
    """Everything it says is a list of events, in the order an engine would send them."""

    def __init__(self, request: Compare, replies: Sequence[Reply], plain_ms: float, prompt_tokens: int) -> None:
        """`replies` by lane, the last one for all lanes beyond."""
        self.answer = request.answer
        self._request = request
        self._plain_ms = plain_ms
        self._prompt_tokens = prompt_tokens
        self._lanes = [
            _Lane(number, lane_steps(replies[min(number, len(replies) - 1)], lane))
            for number, lane in enumerate(request.lanes)
        ]

    @property
    def over(self) -> bool:
        return all(lane.ended for lane in self._lanes)

    def take(self, turns: int | None) -> list[Event]:
        """The next turns (None: all), each by the lane whose own time is least; `Compared` after the last."""
        events: list[Event] = []
        while not self.over and turns != 0:
            turns = None if turns is None else turns - 1
            lane = min((lane for lane in self._lanes if not lane.ended), key=lambda lane: lane.clock)
            if lane.waiting:
                step = lane.waiting.pop(0)
                lane.taken.append(step)
                lane.unsent.append(step)
            if not lane.waiting:
                events += self._end(lane, lane.taken[-1].finish or "eos" if lane.taken else "eos")
        return [*events, *self._flushed(), *self._verdict()]

    def cancel(self) -> list[Event]:
        """Every lane that still runs ends here."""
        ended = [self._end(lane, "cancelled") for lane in self._lanes if not lane.ended]
        return [*(event for events in ended for event in events), *self._verdict()]

    def _flushed(self) -> list[Event]:
        return [event for lane in self._lanes for event in self._flush(lane)]

    def _flush(self, lane: _Lane) -> list[Event]:
        steps, lane.unsent = tuple(lane.unsent), []
        return [LaneStepped(self.answer, lane.number, steps)] if steps else []

    def _end(self, lane: _Lane, reason: Reason) -> list[Event]:
        lane.ended = True
        statistics = Statistics(
            prompt_tokens=self._prompt_tokens,
            tokens=sum(len(step.tokens) for step in lane.taken),
            steps=len(lane.taken),
            seconds=lane.clock / 1000,
            prefill_seconds=PREFILL_SECONDS,
            plain_ms=self._plain_step_ms(),
        )
        return [*self._flush(lane), LaneEnded(self.answer, lane.number, reason, statistics)]

    def _plain_step_ms(self) -> float:
        """The plain lane's mean step so far; what was timed after loading where there is none."""
        for lane, asked in zip(self._lanes, self._request.lanes, strict=True):
            if asked.decoding.decoder == "plain" and lane.taken:
                return lane.clock / len(lane.taken)
        return self._plain_ms

    def _verdict(self) -> list[Event]:
        if not self.over:
            return []
        return [Compared(self.answer, tuple(self._parting(lane) for lane in self._lanes))]

    def _parting(self, lane: _Lane) -> Parting | None:
        """Against the first lane; a lane that was cut short is compared as far as it got."""
        first, own = self._lanes[0].tokens(), lane.tokens()
        for index, (left, right) in enumerate(zip(first, own, strict=False)):
            if left[0] != right[0]:
                return Parting(index, (left[0], right[0]), (left[1], right[1]), GAP)
        index = min(len(first), len(own))
        if len(first) == len(own) or (self._lanes[0] if len(first) == index else lane).waiting:
            return None
        left, right = ((lane_tokens[index : index + 1] or [(None, "")])[0] for lane_tokens in (first, own))
        return Parting(index, (left[0], right[0]), (left[1], right[1]), None)
