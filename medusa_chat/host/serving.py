"""The engine's side of the conversation: loads, answers, and survives what goes wrong. Free of torch itself."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Reason
from medusa_chat.engine.statistics import Tally
from medusa_chat.host import failures
from medusa_chat.host.batch import Batch
from medusa_chat.host.channel import Channel
from medusa_chat.host.commentary import Commentary
from medusa_chat.host.inbox import Inbox
from medusa_chat.host.messages import (
    Adjust,
    Compare,
    Event,
    Failed,
    Finished,
    Generate,
    Load,
    Progress,
    Shutdown,
    Statistics,
    StepTaken,
)
from medusa_chat.host.seam import OpenSession, ServedAnswer, ServedSession
from medusa_chat.host.steering import Steering, StoppedReadingError, reading_progress

_logger = logging.getLogger(__name__)

S = TypeVar("S")


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
                if isinstance(request, Load | Generate | Compare):
                    failed = self._serve(request)
                    if failed is not None:
                        self._send(failed)
                        # The error and all it held are gone by now.
                        if failed.kind == "memory":
                            _release_memory()

    def _serve(self, request: Load | Generate | Compare) -> Failed | None:
        """Returns what went wrong."""
        try:
            if isinstance(request, Load):
                self._load(request)
            elif isinstance(request, Compare):
                self._compare(request)
            else:
                self._answer(request)
        except ScreenGoneError:
            raise
        except Exception as error:
            level = logging.INFO if isinstance(error, MedusaError) else logging.ERROR
            _logger.log(level, "%s failed", type(request).__name__, exc_info=True)
            answer = None if isinstance(request, Load) else request.answer
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
        session = self._loaded_session()
        answer = session.answer(request, reading_progress(self._inbox, self._send))
        batch = Batch(lambda steps: self._send(StepTaken(request.answer, steps)))
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

    def _compare(self, request: Compare) -> None:
        session = self._loaded_session()
        comparison = session.compare(request, reading_progress(self._inbox, self._send))
        commentary = Commentary(request, comparison, session.loaded().plain_ms, self._send)
        # What lanes decode with is what is compared: it stays.
        steering = Steering(self._inbox, lambda _wanted: None, commentary.flush)
        try:
            for lane, step in _steered(comparison, steering):
                commentary.add(lane, step)
        finally:
            commentary.flush()
        commentary.close()

    def _loaded_session(self) -> ServedSession:
        if self._session is None:
            raise MedusaError("No model is loaded; choose one first.")
        return self._session

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


def _steered(answer: Iterable[S], steering: Steering) -> Iterator[S]:
    """The steps, or the turns, a person lets happen."""
    steps = iter(answer)
    try:
        while steering.next_step():
            try:
                step = next(steps)
            except StopIteration:
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
