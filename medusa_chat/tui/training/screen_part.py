"""What the chat screen does about training runs: ask for a folder, and follow it."""

from __future__ import annotations

from collections.abc import Iterable

from textual import work
from textual.app import SystemCommand

from medusa_chat.tui.chat.opening import OpeningScreen


class FollowingScreen(OpeningScreen):
    """The folder followed last is offered again."""

    _followed: str = ""

    @work(exclusive=True, group="follow-run")
    async def follow_run(self) -> None:
        from medusa_chat.tui.training.run_prompt import RunPrompt
        from medusa_chat.tui.training.screen import RunScreen

        run = await self.app.push_screen_wait(RunPrompt(self._followed))
        if run is not None:
            self._followed = str(run.folder)
            await self.app.push_screen(RunScreen(run))

    def commands(self) -> Iterable[SystemCommand]:
        yield from super().commands()
        yield SystemCommand(
            "Follow a training run",
            "Loss, held-out accuracy and time left, while medusa-chat train works",
            self.follow_run,
        )
