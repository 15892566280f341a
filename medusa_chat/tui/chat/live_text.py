"""An answer's text while it is written: Markdown as it streams in, at a cost that does not grow with the answer."""

from __future__ import annotations

import asyncio
from time import monotonic

from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.flat import flat
from medusa_chat.tui.laid_out_once import LaidOutOnce
from medusa_chat.tui.light_container import LightContainer
from medusa_chat.tui.settling import settled

SHARE = 0.25
"""Of the screen's time, at most, goes into drawing what is new; typing and everything else have the rest."""
LONGEST_REST = 0.5
"""Seconds: what was slow once (colouring the first code of all loads what it needs) does not leave the text standing."""


class LiveText(VerticalGroup, LightContainer):
    """Flat text: a part at the end that is drawn anew from its Markdown whenever there is more, and before it, once that
    has become long, parts that whatever follows leaves as they are.

    Blocks as widgets of their own would have to be mounted, styled and thrown away all the time, and each of that is a
    layout of the whole screen.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0
        """Characters of the answer that are drawn."""
        self._tail = ""
        """What the part at the end shows."""
        self._in_code = False
        """That part begins in the midst of a block of code."""
        self._end = _Part(flat(""))
        self._work: asyncio.Task[None] | None = None
        self._rest_until = 0.0

    @property
    def tail(self) -> str:
        """The Markdown of what may still change."""
        return self._tail

    def compose(self) -> ComposeResult:
        yield self._end

    def write(self, text: str) -> bool:
        """Begin to draw the answer as far as it is written; False while that has to wait for earlier text, or rests
        after it. Never waits itself.
        """
        if (self._work is not None and not self._work.done()) or monotonic() < self._rest_until:
            return False
        if len(text) > self._taken:
            self._work = asyncio.create_task(self._write(text))
        return True

    async def end(self, text: str) -> None:
        """Draw the whole answer."""
        if self._work is not None:
            await self._work
        await self._draw(text)

    async def _write(self, text: str) -> None:
        began = monotonic()
        await self._draw(text)
        self.call_after_refresh(self._rest, began)

    async def _draw(self, text: str) -> None:
        self._tail += harmless(text[self._taken :])
        self._taken = len(text)
        if (cut := settled(self._tail)) is None:
            self._end.update(flat(self._tail, began=self._in_code))
            return
        done = _Part(flat(cut.done, goes_on=cut.in_code, began=self._in_code))
        self._tail, self._in_code = cut.rest, cut.in_code
        done.display = False
        await self.mount(done, before=self._end)
        # Both in one frame: what is settled moves from the one part into the other.
        done.display = True
        self._end.update(flat(self._tail, began=self._in_code))

    def _rest(self, began: float) -> None:
        """What was new has been painted: for how long is known now."""
        now = monotonic()
        self._rest_until = now + min((now - began) * (1 / SHARE - 1), LONGEST_REST)


class _Part(Static, LaidOutOnce):
    def __init__(self, text: Content) -> None:
        super().__init__(text, classes="frozen", markup=False)
