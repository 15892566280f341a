"""The line of keys at the bottom."""

from __future__ import annotations

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Footer
from textual.widgets._footer import FooterKey, FooterLabel

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
        keys = [key for key in self.query(FooterKey) if not key.has_class("-grouped")]
        taken = sum(_cells(part) for part in self.query("FooterKey, FooterLabel, KeyGroup"))
        out = next(
            (key for key in keys if key.key == "escape"), next((key for key in keys if key.action == "quit"), None)
        )
        for key in reversed(keys):
            stays = taken <= self.size.width or key is out or key.action in _STAY
            key.display = stays
            taken -= 0 if stays else _cells(key)

    def _wanted(self) -> tuple[tuple[Binding, bool, str], ...]:
        palette = self.app.COMMAND_PALETTE_BINDING
        active = self.screen.active_bindings
        return tuple(entry[1:] for key, entry in active.items() if entry.binding.show or key == palette)


def _cells(part: Widget) -> int:
    """With what it keeps free around itself."""
    words = part.render() if isinstance(part, FooterKey) else part.content if isinstance(part, FooterLabel) else ""
    return cell_len(str(words)) + part.gutter.width + part.styles.margin.width
