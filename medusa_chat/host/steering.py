"""What a person does to a running answer: adjust it, pause it, step through it, stop it."""

from __future__ import annotations

from collections.abc import Callable

from medusa_chat.host.inbox import Inbox
from medusa_chat.host.messages import (
    Adjust,
    Cancel,
    Compare,
    Generate,
    Load,
    Pause,
    Progress,
    Resume,
    Shutdown,
    StepOnce,
)

ENDING = (Cancel, Generate, Compare, Load, Shutdown)
"""Requests that end the running answer: stopping it, and whatever needs the engine for something else."""


class StoppedReadingError(Exception):
    """The answer was stopped while its prompt was being read."""


class Steering:
    """Takes requests out of the inbox between two steps of one answer."""

    def __init__(self, inbox: Inbox, adjust: Callable[[Adjust], None], flush: Callable[[], None]) -> None:
        """`adjust` takes new options for the next step; `flush` shows all steps so far (before a long wait)."""
        self._inbox = inbox
        self._adjust = adjust
        self._flush = flush
        self._paused = False

    def next_step(self) -> bool:
        """Follow every request so far, waiting while paused. True: take a step; False: end the answer here."""
        while True:
            request = self._inbox.look()
            if request is None and not self._paused:
                return True
            if request is None:
                self._flush()
                request = self._inbox.wait()
            if isinstance(request, StepOnce) and self._paused:
                return True
            if isinstance(request, ENDING):
                if not isinstance(request, Cancel):
                    self._inbox.keep(request)
                return False
            self._follow(request)

    def _follow(self, request: Adjust | Pause | StepOnce | Resume) -> None:
        if isinstance(request, Adjust):
            self._adjust(request)
        elif isinstance(request, Pause):
            self._paused = True
        elif isinstance(request, Resume):
            self._paused = False


def reading_progress(inbox: Inbox, send: Callable[[Progress], None]) -> Callable[[int, int], None]:
    """For `Backbone.prefill`: shows how much of the conversation is read, and lets a person stop that.

    The function returned raises `StoppedReadingError` when a request that ends the answer waits; the request stays in the inbox.
    """

    def on_progress(done: int, total: int) -> None:
        if inbox.holds(*ENDING):
            raise StoppedReadingError
        send(Progress("reading the conversation", done / total))

    return on_progress
