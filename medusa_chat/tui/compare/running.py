"""Comparisons as the engine is asked for them: one at a time, the newest kept to be looked at."""

from __future__ import annotations

from medusa_chat.host.messages import Cancel, Compare, Event, Loaded, Progress
from medusa_chat.host.protocol import Engine
from medusa_chat.tui.compare.state import Comparison


class Comparisons:
    """Knows nothing of the conversation: who starts one sees to it that no answer runs."""

    def __init__(self, engine: Engine) -> None:
        self.newest: Comparison | None = None
        """It may have ended."""
        self._engine = engine

    @property
    def running(self) -> bool:
        return self.newest is not None and self.newest.running

    def start(self, request: Compare, plain_ms: float | None) -> Comparison:
        """In place of one that still runs. `plain_ms` of the loaded model, as far as it is known."""
        self.stop()
        self.newest = Comparison(request.answer, request.messages, request.lanes, plain_ms)
        self._engine.send(request)
        return self.newest

    def stop(self) -> None:
        """End all lanes; what they wrote stays to be looked at."""
        if self.newest is not None and self.newest.running and not self.newest.stopping:
            self.newest.stopping = True
            self._engine.send(Cancel())

    def take(self, event: Event) -> bool:
        """Fold an event of the running comparison; False if it is none. While one runs, all progress is its own."""
        newest = self.newest
        if newest is None or not newest.running or isinstance(event, Loaded):
            return False
        if not isinstance(event, Progress) and event.answer != newest.answer:
            return False
        newest.take(event)
        return True
