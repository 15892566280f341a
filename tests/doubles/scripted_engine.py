"""An engine that says what a test tells it to: stands in for `EngineClient` where the screen is tested.

    engine = ScriptedEngine("The capital of France is Paris.")
    engine.send(Load("tiny")); engine.drain()        # [Progress, Loaded]
    engine.send(Generate(answer=1, messages=...))    # nothing yet: the test sets the pace
    engine.play(3)                                   # three steps arrive
    engine.play()                                    # the others, and Finished
    engine.requests                                  # all that was sent, in order

A `Compare` is answered by `lanes`, one text (or ready-made steps) a lane, else by the next reply in every lane. `play`
advances it turn by turn, each step by the lane whose steps so far took least time: `LaneStepped`, `LaneEnded`, and
`Compared` after the last.

Everything happens inside the call that causes it and is the same in every run. Unlike the real one it calls `wake`
from the caller's own thread; `App.post_message` and `Widget.post_message` work in both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from doubles.scripted_race import Reply, ScriptedRace
from doubles.step_records import steps_of

from medusa_chat.engine.options import Reason
from medusa_chat.host.messages import (
    Cancel,
    Compare,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Pause,
    Progress,
    Request,
    Resume,
    Statistics,
    StepOnce,
    StepRecord,
    StepTaken,
)

LOADED = Loaded(
    model="tiny",
    heads=4,
    device="cpu, 2 threads",
    precision="float32",
    context=2048,
    budget=8,
    plain_ms=8.0,
)


@dataclass(slots=True)
class _Running:
    answer: int
    waiting: list[StepRecord]
    taken: list[StepRecord]


class ScriptedEngine:
    """Answers with `replies` in turn, the last one again and again; a reply is a text or ready-made steps.

    With `instant` a whole answer arrives as soon as it is asked for; otherwise `play` sets the pace.
    """

    def __init__(
        self,
        *replies: Reply,
        lanes: Sequence[Reply] = (),
        loaded: Loaded = LOADED,
        prompt_tokens: int = 31,
        instant: bool = False,
    ) -> None:
        self.loaded = loaded
        self.requests: list[Request] = []
        self.paused = False
        self.closed = False
        self._replies = list(replies)
        self._lanes = lanes
        self._prompt_tokens = prompt_tokens
        self._instant = instant
        self._running: _Running | None = None
        self._race: ScriptedRace | None = None
        self._events: list[Event] = []
        self._wake: Callable[[], None] | None = None

    # The screen's side: `medusa_chat.host.protocol.Engine`.

    def start(self, wake: Callable[[], None] | None = None) -> None:
        self._wake = wake

    def send(self, request: Request) -> None:
        self.requests.append(request)
        if isinstance(request, Load):
            self.emit(Progress("reading weights", 0.5), replace(self.loaded, model=request.model))
        elif isinstance(request, Generate):
            self._begin(request)
        elif isinstance(request, Compare):
            self._begin_race(request)
        elif isinstance(request, Cancel):
            self._cancel()
        elif isinstance(request, Pause):
            self.paused = self._running is not None or self._race is not None
        elif isinstance(request, StepOnce):
            self._deliver(1)
        elif isinstance(request, Resume):
            self.paused = False

    def drain(self) -> list[Event]:
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        self.closed = True

    # The test's side.

    def emit(self, *events: Event) -> None:
        """Let any events arrive now; a `Failed` of the running answer ends it."""
        for event in events:
            running = self._running or self._race
            if isinstance(event, Failed) and running is not None and event.answer == running.answer:
                self._end()
        self._events += events
        if self._wake is not None:
            self._wake()

    def play(self, steps: int | None = None) -> None:
        """Deliver the next steps of the running answer (None: all) and, after the last one, `Finished`; or the next
        turns of the running comparison and, after the last one, `Compared`.

        While the screen has paused the engine, nothing is delivered.
        """
        if not self.paused:
            self._deliver(steps)

    def sent(self, kind: type) -> list[Request]:
        """The requests of one kind, in order."""
        return [request for request in self.requests if isinstance(request, kind)]

    def _begin(self, request: Generate) -> None:
        reply = self._next_reply()
        steps = steps_of(reply) if isinstance(reply, str) else reply
        self._running = _Running(request.answer, list(steps), [])
        if self._instant:
            self._deliver(None)

    def _begin_race(self, request: Compare) -> None:
        replies = self._lanes or [self._next_reply()]
        self._race = ScriptedRace(request, replies, self.loaded.plain_ms, self._prompt_tokens)
        if self._instant:
            self._deliver(None)

    def _next_reply(self) -> Reply:
        if not self._replies:
            raise AssertionError("this scripted engine has no reply; pass one when you create it")
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    def _deliver(self, count: int | None) -> None:
        if self._race is not None:
            self._tell_of_race(self._race.take(count))
        elif self._running is not None:
            self._deliver_steps(self._running, count)

    def _deliver_steps(self, running: _Running, count: int | None) -> None:
        steps = running.waiting[:count]
        running.waiting = running.waiting[len(steps) :]
        running.taken += steps
        if steps:
            self.emit(StepTaken(running.answer, tuple(steps)))
        if not running.waiting:
            self._finish(running.taken[-1].finish or "eos" if running.taken else "eos")

    def _cancel(self) -> None:
        if self._race is not None:
            self._tell_of_race(self._race.cancel())
        elif self._running is not None:
            self._finish("cancelled")

    def _tell_of_race(self, events: list[Event]) -> None:
        if self._race is not None and self._race.over:
            self._end()
        if events:
            self.emit(*events)

    def _finish(self, reason: Reason) -> None:
        running = self._running
        assert running is not None
        statistics = Statistics(
            prompt_tokens=self._prompt_tokens,
            tokens=sum(len(step.tokens) for step in running.taken),
            steps=len(running.taken),
            seconds=sum(step.ms for step in running.taken) / 1000,
            prefill_seconds=0.25,
            plain_ms=self.loaded.plain_ms,
        )
        self._end()
        self.emit(Finished(running.answer, reason, statistics))

    def _end(self) -> None:
        self._running = self._race = None
        self.paused = False
