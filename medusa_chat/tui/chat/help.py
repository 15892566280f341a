"""Every key and what the figures mean, on one page that can be searched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input

from medusa_chat.tui.chat.help_text import Section, page


class HelpPage(Widget):
    """As high as its words are at the width it has."""

    def __init__(self, shown: Sequence[Section]) -> None:
        super().__init__(id="page")
        self._shown = shown
        self._words = ""

    def find(self, words: str) -> None:
        """Only rows with these words; all without any."""
        self._words = words
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(page(self._shown, self._words, max(1, width)).split("\n", allow_blank=True))

    def render(self) -> Content:
        return page(self._shown, self._words, max(1, self.size.width))


class HelpScreen(ModalScreen[None]):
    """Closed by the key that opened it, or Esc, which first leaves the search."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash", "search", "Search", id="help.search", key_display="/", tooltip="Search keys, actions and words"
        ),
        Binding("j,down", "scroll(1)", "Down", id="help.down", show=False, tooltip="Read on"),
        Binding("k,up", "scroll(-1)", "Up", id="help.up", show=False, tooltip="Read further up"),
        Binding("g", "top", "Top", id="help.top", show=False, tooltip="To the first line"),
        Binding("G", "bottom", "Bottom", id="help.bottom", show=False, tooltip="To the last line"),
        Binding("escape,f1,q", "close", "Close", id="help.close", key_display="esc", tooltip="Close this page"),
    ]

    def __init__(self, shown: Sequence[Section]) -> None:
        super().__init__()
        self.shown = shown

    def compose(self) -> ComposeResult:
        with Vertical(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "/ searches · esc closes"
            yield Input(placeholder="Search", id="wanted", compact=True)
            with VerticalScroll(id="read"):
                yield HelpPage(self.shown)

    def on_mount(self) -> None:
        self.query_one("#wanted").display = False
        self.query_one("#read").focus()

    @on(Input.Changed)
    def _on_typed(self, event: Input.Changed) -> None:
        self.query_one(HelpPage).find(event.value)
        self.query_one("#read").scroll_home(animate=False)

    @on(Input.Submitted)
    def _on_entered(self) -> None:
        self.query_one("#read").focus()

    def action_search(self) -> None:
        wanted = self.query_one("#wanted", Input)
        wanted.display = True
        self.set_focus(wanted)  # at once: letters may follow

    def action_close(self) -> None:
        wanted = self.query_one("#wanted", Input)
        if wanted.display:
            wanted.value = ""
            wanted.display = False
            self.query_one("#read").focus()
        else:
            self.dismiss()

    def action_scroll(self, by: int) -> None:
        self.query_one("#read").scroll_relative(y=by, animate=False)

    def action_top(self) -> None:
        self.query_one("#read").scroll_home(animate=False)

    def action_bottom(self) -> None:
        self.query_one("#read").scroll_end(animate=False)
