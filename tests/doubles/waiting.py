"""Waiting for what is to happen, however slow the machine is that tests."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from textual.css.query import NoMatches
from textual.message_pump import MessagePump
from textual.pilot import Pilot

POLL = 0.01
PATIENCE = 60.0
"""Seconds until something that has not happened never will; no test that passes comes near it."""
ROUNDS = 30
"""Of all messages through the app, at most: something that moves all the time is not waited for."""


async def until(pilot: Pilot[None], condition: Callable[[], object]) -> None:
    """Let the app work until something holds; what asks for something that is not there yet does not hold yet.

    Raises:
        AssertionError: it never does.
    """
    ends = monotonic() + PATIENCE
    while True:
        missing = None
        try:
            if condition():
                return
        except (NoMatches, IndexError) as error:
            missing = error
        if monotonic() > ends:
            raise AssertionError("what was waited for never came") from missing
        await pilot.pause(POLL)


async def no_wait(*seconds: float) -> None:
    """In place of Textual's own wait after a key, which ends when the process seems idle: on a busy machine it does."""


class PatientPilot(Pilot[None]):
    """After each key and click waits for all that it sets off in the app: messages, what they send on, layout. What a
    timer or a thread does later has to be waited for where it matters."""

    async def pause(self, delay: float | None = None) -> None:
        await (self._settle() if delay is None else super().pause(delay))

    async def press(self, *keys: str) -> None:
        for key in keys:
            await super().press(key)
            await self._settle()

    async def click(self, *args: object, **options: object) -> bool:
        hit = await super().click(*args, **options)
        await self._settle()
        return hit

    async def resize_terminal(self, width: int, height: int) -> None:
        """Textual takes it up a moment later."""
        await super().resize_terminal(width, height)
        await until(self, lambda: self.app.screen.size == (width, height))
        await self._settle()

    async def _settle(self) -> None:
        """Two rounds in which nothing waits: behind the first, somebody may still be at work on a message."""
        quiet = 0
        for _ in range(ROUNDS):
            await self.pause(0)
            quiet = 0 if self.app.is_running and self._is_under_way() else quiet + 1
            if quiet == 2:
                return

    def _is_under_way(self) -> bool:
        screen = self.app.screen
        pumps: list[MessagePump] = [self.app, *self.app.screen_stack, *screen.walk_children()]
        messages = any(pump.message_queue_size or pump._next_callbacks for pump in pumps)
        return messages or bool(screen._callbacks) or screen._layout_required
