"""An answer's text while it is written: Markdown as it streams in, at a cost that does not grow with the answer."""

from __future__ import annotations

import asyncio
from time import monotonic

from textual import on
from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.widgets import Markdown, Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.markup import flat, parser
from medusa_chat.tui.settling import settled

SHARE = 0.25
"""Of the screen's time, at most, goes into drawing what is new; typing and everything else have the rest."""


class LiveText(VerticalGroup):
    """Blocks at the end that may still change, and before them, once those are many, flat text that will not.

    A Markdown widget must be streamed from empty and updated once at the end: other orders leave wrong blocks behind.
    """

    def __init__(self) -> None:
        super().__init__()
        self._ready = False
        self._taken = 0
        """Characters of the answer that are drawn."""
        self._tail = ""
        """What the Markdown widget has."""
        self._work: asyncio.Task[None] | None = None
        self._rest_until = 0.0

    @property
    def ready(self) -> bool:
        return self._ready

    def compose(self) -> ComposeResult:
        yield Markdown(parser_factory=parser, open_links=False)

    @on(Markdown.TableOfContentsUpdated)
    def _on_markdown_up(self) -> None:
        """The first of these says that the Markdown widget has emptied itself, as it does once after being mounted.

        Text handed over before that is wiped, or both wait for each other for ever.
        """
        self._ready = True

    def write(self, text: str) -> bool:
        """Begin to draw the answer as far as it is written; False while that has to wait for earlier text, or rests
        after it. Never waits itself.
        """
        if not self._ready or (self._work is not None and not self._work.done()) or monotonic() < self._rest_until:
            return False
        if len(text) > self._taken:
            self._work = asyncio.create_task(self._write(self._fresh(text)))
        return True

    async def end(self, text: str) -> None:
        """Draw the whole answer, once more what may have changed."""
        if self._work is not None:
            await self._work
        await self._settle(self._fresh(text))
        await self.query_one(Markdown).update(self._tail)

    def _fresh(self, text: str) -> str:
        fresh, self._taken = harmless(text[self._taken :]), len(text)
        return fresh

    async def _write(self, fresh: str) -> None:
        began = monotonic()
        markdown = self.query_one(Markdown)
        with self.app.batch_update():
            if await self._settle(fresh):
                await markdown.update("")
                await markdown.append(self._tail)
            else:
                await markdown.append(fresh)
        self.call_after_refresh(self._rest, began)

    async def _settle(self, fresh: str) -> bool:
        """Add to the tail; True when part of it has become flat text."""
        self._tail += fresh
        cut = settled(self._tail)
        if cut is None:
            return False
        self._tail = cut.rest
        done = Static(flat(cut.done), classes="frozen", markup=False)
        await self.mount(done, before=self.query_one(Markdown))
        return True

    def _rest(self, began: float) -> None:
        """What was new has been painted: for how long is known now."""
        now = monotonic()
        self._rest_until = now + (now - began) * (1 / SHARE - 1)
