"""The screen that follows a training run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import time
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from medusa_chat.tui.key_line import KeyLine
from medusa_chat.tui.training.drawing import facts, heading, held_out, loss_curve, progress
from medusa_chat.tui.training.following import Following

LOOK_SECONDS = 0.5


class LossCurve(Widget):
    """As large as it is made."""

    def __init__(self, run: Following) -> None:
        super().__init__()
        self._run = run
        self._drawn = Content()

    def draw(self) -> None:
        """Only ever between two looks, when nobody else touches the run."""
        self._drawn = loss_curve(self._run, self.size.width, self.size.height)
        self.refresh()

    def render(self) -> Content:
        return self._drawn


class RunScreen(Screen[None]):
    """Looks twice a second at what is new in the folder; draws when something is, and once in a while for the clock."""

    CSS_PATH = "training.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-medium"), (150, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-high"), (50, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll(1)", "Down", id="run.down", key_display="↓", tooltip="Read further down"),
        Binding("up,k", "scroll(-1)", "Up", id="run.up", key_display="↑", tooltip="Read further up"),
        Binding("g,home", "edge(-1)", "Top", id="run.top", show=False, tooltip="To the top"),
        Binding("G,end", "edge(1)", "End", id="run.end", show=False, tooltip="To the end"),
        Binding("escape,q", "close", "Back", id="run.close", key_display="esc", tooltip="Back to the chat; the run goes on"),
    ]  # fmt: skip

    def __init__(self, run: Following) -> None:
        super().__init__()
        self._run = run
        self._looking = False
        self._idle_looks = 0

    def compose(self) -> ComposeResult:
        yield Static(id="heading", markup=False)
        with VerticalScroll(id="run", can_focus=False):
            with Container(id="curves"):
                yield Static(id="progress", markup=False)
                yield LossCurve(self._run)
            with Container(id="facts"):
                yield Static(id="held-out", markup=False)
                yield Static(id="asked", markup=False)
        yield KeyLine()

    def on_mount(self) -> None:
        self.set_interval(LOOK_SECONDS, self._look)
        self._look()

    @property
    def settled(self) -> bool:
        """All there is was read and drawn."""
        return not self._looking and not self._run.behind

    @work(group="look")
    async def _look(self) -> None:
        if self._looking:
            return
        self._looking = True
        try:
            new = await asyncio.to_thread(self._run.look)
            self._idle_looks = 0 if new else self._idle_looks + 1
            # Minutes since the last row are told too.
            if new or self._idle_looks % 10 == 0:
                self._draw()
        finally:
            self._looking = False

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._redraw)

    def _redraw(self) -> None:
        """Soon, where a look is under way: it holds the run."""
        if self._looking:
            self._idle_looks = -1
        else:
            self._draw()

    def _draw(self) -> None:
        run = self._run
        self._show("#heading", lambda width: heading(run.run, width))
        self._show("#progress", lambda width: progress(run, time(), width))
        self._show("#held-out", lambda width: held_out(run.measured, width))
        self._show("#asked", lambda width: facts(run))
        self.query_one(LossCurve).draw()

    def _show(self, name: str, draw: Callable[[int], Content]) -> None:
        shown = self.query_one(name, Static)
        shown.update(draw(shown.content_size.width))

    def action_scroll(self, by: int) -> None:
        self.query_one("#run").scroll_relative(y=by, animate=False)

    def action_edge(self, by: int) -> None:
        page = self.query_one("#run")
        page.scroll_home(animate=False) if by < 0 else page.scroll_end(animate=False)

    def action_close(self) -> None:
        self.app.pop_screen()
