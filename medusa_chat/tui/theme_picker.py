"""The list of themes: moving through it shows each on the whole screen, and only Enter keeps one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.theme import Theme
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from medusa_chat.tui.text import fitted

_NAME_CELLS = 20
_SAMPLE = "■ "
_SAMPLED = ("primary", "secondary", "accent", "success", "warning", "error")


class ThemeList(OptionList):
    """Moves with arrows and with the keys of vi."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Next theme", id="theme.next", show=False, tooltip="Show the next theme"),
        Binding("k", "cursor_up", "Previous theme", id="theme.previous", show=False, tooltip="Show the theme before"),
        Binding("g", "first", "First theme", id="theme.first", show=False, tooltip="Show the first theme"),
        Binding("G", "last", "Last theme", id="theme.last", show=False, tooltip="Show the last theme"),
    ]


class ThemePicker(ModalScreen[str | None]):
    """Ends with the name of the theme to keep, or None when all shall look as before."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q", "cancel", "Cancel", id="theme.cancel", key_display="esc", tooltip="Keep the look there was"
        ),
    ]

    def __init__(self, themes: Sequence[Theme], worn: str, preview: Callable[[str], None]) -> None:
        super().__init__()
        self._themes = themes
        self._worn = worn
        self._preview = preview

    def compose(self) -> ComposeResult:
        names = ThemeList(*(Option(_sample(theme), id=theme.name) for theme in self._themes), id="themes")
        names.border_title = "Theme"
        names.border_subtitle = "enter keeps · esc goes back"
        yield names

    def on_mount(self) -> None:
        names = self.query_one(ThemeList)
        names.highlighted = next((row for row, theme in enumerate(self._themes) if theme.name == self._worn), 0)
        names.focus()

    @on(OptionList.OptionHighlighted)
    def _on_moved(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id is not None:
            self._preview(event.option_id)

    @on(OptionList.OptionSelected)
    def _on_taken(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option_id)

    def action_cancel(self) -> None:
        self._preview(self._worn)
        self.dismiss(None)


def _sample(theme: Theme) -> Content:
    """The name, and the theme's colours on its own background."""
    swatches = [(_SAMPLE, f"{getattr(theme, name)} on {theme.background}") for name in _SAMPLED]
    return Content.assemble(fitted(theme.name, _NAME_CELLS), (" ", f"on {theme.background}"), *swatches)
