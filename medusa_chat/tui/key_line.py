"""The line of keys at the bottom."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widgets import Footer


class KeyLine(Footer):
    """Textual's footer, but it makes its keys anew only when they are others, and lets go of the old ones.

    A screen asks for that whenever something began, ended or got the focus. Each time it is twenty widgets, and the
    footer would keep all it ever had: the new ones watch it.
    """

    _made: tuple[tuple[Binding, bool, str], ...] | None = None
    """What the keys were made from."""

    def compose(self) -> ComposeResult:
        self._made = self._wanted()
        yield from super().compose()

    def bindings_changed(self, screen: Screen[object]) -> None:
        if not self._bindings_ready or self._wanted() != self._made:
            super().bindings_changed(screen)

    async def recompose(self) -> None:
        await super().recompose()
        # Telling those who watch a value is when the ones that are gone are forgotten.
        self.mutate_reactive(Footer.compact)

    def _wanted(self) -> tuple[tuple[Binding, bool, str], ...]:
        palette = self.app.COMMAND_PALETTE_BINDING
        active = self.screen.active_bindings
        return tuple(entry[1:] for key, entry in active.items() if entry.binding.show or key == palette)
