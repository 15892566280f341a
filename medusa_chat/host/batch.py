"""Steps on their way to the screen, as many messages a second as it can paint."""

from __future__ import annotations

import time
from collections.abc import Callable

from medusa_chat.host.messages import StepRecord

INTERVAL = 1 / 30
"""Seconds between two messages: one for each frame of a screen painting 30 a second."""


class Batch:
    """Gathers the steps of one answer, or of one lane; each is sent once, in order.

    A step that comes later than `interval` after the last message leaves at once, so the steps of a slow model are
    never held back; those of a fast one wait for the first step beyond it, or for `flush`.
    """

    def __init__(
        self,
        send: Callable[[tuple[StepRecord, ...]], None],
        *,
        interval: float = INTERVAL,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send = send
        self._interval = interval
        self._clock = clock
        self._steps: list[StepRecord] = []
        self._next = clock()

    def add(self, step: StepRecord) -> None:
        self._steps.append(step)
        if self._clock() >= self._next:
            self.flush()

    def flush(self) -> None:
        """Send what waits, now."""
        if not self._steps:
            return
        steps, self._steps = tuple(self._steps), []
        self._send(steps)
        self._next = self._clock() + self._interval
