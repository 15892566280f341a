"""The engine as the screen sees it, so that tests can put a scripted one in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from medusa_chat.host.messages import Event, Request


class Engine(Protocol):
    """Takes requests, leaves events to be drained. No method waits for the model; all may be called from one thread."""

    def start(self, wake: Callable[[], None] | None = None) -> None:
        """Get ready in the background; called again, only the callback is replaced.

        `wake` is called from another thread whenever events wait to be drained. It must be quick and must not raise:
        posting a message to the screen's own loop is what it is for.
        """
        ...

    def send(self, request: Request) -> None:
        """Hand a request over; what becomes of it arrives as events. Starts the engine where `start` was not called."""
        ...

    def drain(self) -> list[Event]:
        """Every event since the last call, in order; empty when there is none."""
        ...

    def close(self) -> None:
        """End the engine, at once even while it loads; afterwards nothing arrives any more. May be called twice."""
        ...
