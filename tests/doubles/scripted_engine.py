"""An engine that says what a test tells it to: stands in for `EngineClient` where the screen is tested.

    engine = ScriptedEngine("The capital of France is Paris.")
    engine.send(Load("tiny")); engine.drain()        # [Progress, Loaded]
    engine.send(Generate(answer=1, messages=...))    # nothing yet: the test sets the pace
    engine.play(3)                                   # three steps arrive
    engine.play()                                    # the others, and Finished
    engine.requests                                  # all that was sent, in order

Everything happens inside the call that causes it and is the same in every run. Unlike the real one it calls `wake`
from the caller's own thread; `App.post_message` and `Widget.post_message` work in both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from doubles.step_records import steps_of

from medusa_chat.engine.options import Reason
from medusa_chat.host.messages import (
    Cancel,
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
        *replies: str | Sequence[StepRecord],
        loaded: Loaded = LOADED,
        prompt_tokens: int = 31,
        instant: bool = False,
    ) -> None:
        self.loaded = loaded
        self.requests: list[Request] = []
        self.paused = False
        self.closed = False
        self._replies = [list(steps_of(reply)) if isinstance(reply, str) else list(reply) for reply in replies]
        self._prompt_tokens = prompt_tokens
        self._instant = instant
        self._running: _Running | None = None
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
        elif isinstance(request, Cancel) and self._running is not None:
            self._finish("cancelled")
        elif isinstance(request, Pause):
            self.paused = self._running is not None
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
            if isinstance(event, Failed) and self._running is not None and event.answer == self._running.answer:
                self._end()
        self._events += events
        if self._wake is not None:
            self._wake()

    def play(self, steps: int | None = None) -> None:
        """Deliver the next steps of the running answer (None: all) and, after the last one, `Finished`.

        While the screen has paused the engine, nothing is delivered.
        """
        if not self.paused:
            self._deliver(steps)

    def sent(self, kind: type) -> list[Request]:
        """The requests of one kind, in order."""
        return [request for request in self.requests if isinstance(request, kind)]

    def _begin(self, request: Generate) -> None:
        if not self._replies:
            raise AssertionError("this scripted engine has no reply; pass one when you create it")
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        self._running = _Running(request.answer, list(reply), [])
        if self._instant:
            self._deliver(None)

    def _deliver(self, count: int | None) -> None:
        running = self._running
        if running is None:
            return
        steps = running.waiting[:count]
        running.waiting = running.waiting[len(steps) :]
        running.taken += steps
        if steps:
            self.emit(StepTaken(running.answer, tuple(steps)))
        if not running.waiting:
            self._finish(running.taken[-1].finish or "eos" if running.taken else "eos")

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
        self._running = None
        self.paused = False
