"""The line of keys at the bottom."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey, FooterLabel, KeyGroup

from medusa_chat.tui.garbage import let_go
from medusa_chat.tui.key_parts import Part, parts_of

_STAY = ("help", "command_palette", "app.command_palette")


class KeyLine(Footer):
    """Textual's footer, but of its keys only those are made and taken away that were not there or are there no more.

    A screen asks for that whenever something began, ended or got the focus. Twenty new widgets each time are a pause one
    can see, and as many old ones for Python's search for garbage. What does not fit is left out from the end, never cut;
    how one gets out (with Esc, or else for good), gets help and finds all the rest stays.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[Part, list[Widget]] = {}
        """From left to right, with what was made of each."""

    def compose(self) -> ComposeResult:
        """Nothing, until the screen tells which keys there are."""
        yield from ()

    def bindings_changed(self, screen: Screen[object]) -> None:
        if not self._bindings_ready or self._wanted() != list(self._shown):
            super().bindings_changed(screen)

    async def recompose(self) -> None:
        if self.is_attached and not self._pruning:
            async with self.lock:
                await self._exchange(self._wanted())

    async def _exchange(self, wanted: Sequence[Part]) -> None:
        """In one frame, and without holding back any until all is done: what is new waits unseen for what is old to go."""
        kept = [part for part in self._shown if part in wanted]
        if kept != [part for part in wanted if part in self._shown]:
            kept = []  # they stand in another order now
        shown: dict[Part, list[Widget]] = {}
        new: list[Widget] = []
        for part in wanted:
            if part not in kept:
                shown[part] = part.made(self.app.get_key_display)
                new += shown[part]
                continue
            shown[part] = self._shown[part]
            if new:
                await self._mount_unseen(new, before=shown[part][0])
                new = []
        if new:
            await self._mount_unseen(new)
        gone = [widget for part, made in self._shown.items() if part not in kept for widget in made]
        self._shown = shown
        for widget in gone:
            widget.display = False
        self._fit()
        await let_go(gone)

    async def _mount_unseen(self, parts: Sequence[Widget], before: Widget | None = None) -> None:
        for part in parts:
            part.display = False
        await self.mount_all(parts, before=before)

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """From the end. Keys in a group go with the words behind them."""
        shown = {part for made in self._shown.values() for part in made}
        parts = [part for part in self.children if part in shown]
        keys = [part for part in parts if isinstance(part, FooterKey)]
        out = next((key for key in keys if key.key == "escape"), None) or next(
            (key for key in keys if key.action == "quit"), None
        )
        taken = sum(_cells(part) for part in parts)
        dropped = False
        for part in reversed(parts):
            needed = part is out or (isinstance(part, FooterKey) and part.action in _STAY)
            part.display = needed or (taken <= self.size.width and not (dropped and isinstance(part, KeyGroup)))
            dropped = isinstance(part, FooterLabel) and not part.display
            taken -= 0 if part.display else _cells(part)

    def _wanted(self) -> list[Part]:
        return parts_of(self.screen.active_bindings, self.app.COMMAND_PALETTE_BINDING)


def _cells(part: Widget) -> int:
    """With what it keeps free around itself."""
    spare = part.gutter.width + part.styles.margin.width
    if isinstance(part, KeyGroup):
        return spare + sum(_cells(key) for key in part.children)
    words = part.render() if isinstance(part, FooterKey) else part.content if isinstance(part, FooterLabel) else ""
    return spare + cell_len(str(words))
