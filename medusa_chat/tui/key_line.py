"""The line of keys at the bottom."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey, FooterLabel, KeyGroup

_STAY = ("help", "command_palette", "app.command_palette")


class KeyLine(Footer):
    """Textual's footer, but it makes its keys anew only when they are others, and lets go of the old ones.

    A screen asks for that whenever something began, ended or got the focus. Each time it is twenty widgets, and the
    footer would keep all it ever had: the new ones watch it. What does not fit is left out from the end, never cut; how
    one gets out (with Esc, or else for good), gets help and finds all the rest stays.
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
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """From the end. Keys in a group go with the words behind them."""
        keys = list(self.query(FooterKey))
        out = next((key for key in keys if key.key == "escape"), None) or next(
            (key for key in keys if key.action == "quit"), None
        )
        taken = sum(_cells(part) for part in self.children)
        dropped = False
        for part in reversed(self.children):
            needed = part is out or (isinstance(part, FooterKey) and part.action in _STAY)
            part.display = needed or (taken <= self.size.width and not (dropped and isinstance(part, KeyGroup)))
            dropped = isinstance(part, FooterLabel) and not part.display
            taken -= 0 if part.display else _cells(part)

    def _wanted(self) -> tuple[tuple[Binding, bool, str], ...]:
        palette = self.app.COMMAND_PALETTE_BINDING
        active = self.screen.active_bindings
        return tuple(entry[1:] for key, entry in active.items() if entry.binding.show or key == palette)


def _cells(part: Widget) -> int:
    """With what it keeps free around itself."""
    spare = part.gutter.width + part.styles.margin.width
    if isinstance(part, KeyGroup):
        return spare + sum(_cells(key) for key in part.children)
    words = part.render() if isinstance(part, FooterKey) else part.content if isinstance(part, FooterLabel) else ""
    return spare + cell_len(str(words))
