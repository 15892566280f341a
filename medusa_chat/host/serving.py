"""The engine's side of the conversation: loads, answers, and survives what goes wrong. Free of torch itself."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Reason, Sampling
from medusa_chat.engine.statistics import Tally
from medusa_chat.host import failures
from medusa_chat.host.batch import Batch
from medusa_chat.host.channel import Channel
from medusa_chat.host.inbox import Inbox
from medusa_chat.host.messages import (
    Adjust,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Progress,
    Shutdown,
    Statistics,
    StepRecord,
)
from medusa_chat.host.steering import Steering, StoppedReadingError, reading_progress

_logger = logging.getLogger(__name__)


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


class ServedSession(Protocol):
    """A loaded model."""

    def loaded(self) -> Loaded: ...

    def answer(self, request: Generate, on_progress: Callable[[int, int], None]) -> ServedAnswer:
        """Starts an answer; `on_progress(done, total)` tells prompt tokens read and may raise to stop the reading."""
        ...


OnProgress = Callable[[str, float | None], None]
"""Told the stage, and how much of it is done: 0..1, None while unknown."""

OpenSession = Callable[[Load, OnProgress], ServedSession]


class ScreenGoneError(Exception):
    """Nothing left to serve, nobody left to tell."""


class Service:
    """Serves one screen until it says goodbye; a request that fails leaves it ready for the next."""

    def __init__(self, channel: Channel, open_session: OpenSession, log: Path, at_end: Callable[[], None]) -> None:
        """`log` is only named to the person. `at_end` is called, on another thread, as soon as the screen is gone."""
        self._channel = channel
        self._open_session = open_session
        self._log = log
        self._inbox = Inbox(channel, at_end)
        self._session: ServedSession | None = None

    def run(self) -> None:
        """Returns after `Shutdown`, or when the screen is gone."""
        with suppress(ScreenGoneError):
            while not isinstance(request := self._inbox.wait(), Shutdown):
                if isinstance(request, Load | Generate):
                    failed = self._serve(request)
                    if failed is not None:
                        self._send(failed)
                        # The error and all it held are gone by now.
                        if failed.kind == "memory":
                            _release_memory()

    def _serve(self, request: Load | Generate) -> Failed | None:
        """Returns what went wrong."""
        try:
            if isinstance(request, Load):
                self._load(request)
            else:
                self._answer(request)
        except ScreenGoneError:
            raise
        except Exception as error:
            level = logging.INFO if isinstance(error, MedusaError) else logging.ERROR
            _logger.log(level, "%s failed", type(request).__name__, exc_info=True)
            answer = request.answer if isinstance(request, Generate) else None
            return failures.from_exception(error, answer=answer, loading=isinstance(request, Load), log=self._log)
        return None

    def _load(self, request: Load) -> None:
        if self._session is not None:
            # Gone before the next one comes: two models at once may not fit.
            self._session = None
            _release_memory()
        self._session = self._open_session(request, lambda stage, done: self._send(Progress(stage, done)))
        self._send(self._session.loaded())

    def _answer(self, request: Generate) -> None:
        session = self._session
        if session is None:
            raise MedusaError("No model is loaded; choose one first.")
        answer = session.answer(request, reading_progress(self._inbox, self._send))
        batch = Batch(request.answer, self._send)
        tally = Tally(session.loaded().plain_ms)
        steering = Steering(self._inbox, lambda wanted: self._adjust(answer, wanted), batch.flush)
        reason: Reason = "cancelled"
        try:
            for step in _steered(answer, steering):
                tally.add(len(step.tokens), step.ms, step.plain_ms)
                batch.add(step)
                reason = step.finish or reason
        finally:
            batch.flush()
        held_back = answer.cancel() if reason == "cancelled" else ""
        self._send(Finished(request.answer, reason, _statistics(answer, tally), held_back))

    def _adjust(self, answer: ServedAnswer, wanted: Adjust) -> None:
        """Options this model cannot follow (no heads) leave the answer as it was."""
        try:
            answer.adjust(wanted.decoding, wanted.sampling)
        except MedusaError as error:
            self._send(Failed("refused", str(error)))

    def _send(self, event: Event) -> None:
        try:
            self._channel.send(event)
        except OSError as error:
            raise ScreenGoneError from error


def _steered(answer: ServedAnswer, steering: Steering) -> Iterator[StepRecord]:
    """The steps a person lets happen."""
    steps = iter(answer)
    try:
        while steering.next_step():
            step = next(steps, None)
            if step is None:
                return
            yield step
    except StoppedReadingError:
        while steering.next_step():
            """Requests before the one that stopped the reading have nothing left to steer."""


def _statistics(answer: ServedAnswer, tally: Tally) -> Statistics:
    return Statistics(
        prompt_tokens=answer.prompt_tokens,
        tokens=tally.tokens,
        steps=tally.steps,
        seconds=tally.ms / 1000,
        prefill_seconds=answer.prefill_seconds,
        plain_ms=tally.plain_ms or 0.0,
    )


def _release_memory() -> None:
    """What a dropped model or a failed step held, back to the system and to the card."""
    gc.collect()
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
