"""Every key and what the figures mean, on one page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

_WORDS = (
    ("step", "one forward pass of the model: guess, check, keep"),
    ("candidate tree", "the guesses of a step; a path through it is kept, marked ✓"),
    ("accepted length", "tokens a step yields: kept guesses and the one the model adds"),
    ("acceleration rate", "tokens per step"),
    ("overhead", "time of a step ÷ time of a plain step on this machine"),
    ("speedup", "acceleration rate ÷ overhead: how much faster than plain decoding"),
    ("lossless", "guesses never change what the model says, nor how often"),
    ("lossy", "typical and threshold keep likely guesses and so change the answers"),
)


class HelpScreen(ModalScreen[None]):
    """Closed by the key that opened it, or Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q", "dismiss", "Close", id="help.close", key_display="esc", tooltip="Close this page"),
    ]

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._keys = keys

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as page:
            page.border_title = "Help"
            page.border_subtitle = "esc closes"
            yield Static("Keys", classes="heading")
            yield from _table("keys", self._keys)
            yield Static("Words", classes="heading")
            yield from _table("words", _WORDS)

    def on_mount(self) -> None:
        self.query_one("#help").focus()


def _table(id: str, rows: Sequence[tuple[str, str]]) -> ComposeResult:
    with Grid(id=id, classes="table"):
        for name, text in rows:
            yield Static(Content.styled(name, "bold $accent"), markup=False)
            yield Static(text, markup=False)
