"""The system prompt of a conversation: a muted line above it, and a small editor for it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Static

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.text import FRAME, MUTED, that_fits
from medusa_chat.tui.text_box import TextBox

_NEW_LINES = ("ctrl+j", "shift+enter", "alt+enter")


class SystemLine(Static):
    """One line, there only when there is something to say; a click opens the editor."""

    def __init__(self, system: str = "") -> None:
        super().__init__(classes="system", markup=False)
        self.show(system)

    def show(self, system: str) -> None:
        self.display = bool(system)
        words = " ".join(harmless(system).split())
        self.update(Content.assemble(("System  ", "bold $secondary"), (words, MUTED)))

    async def on_click(self) -> None:
        await self.run_action("screen.system")


class SystemEditor(ModalScreen["str | None"]):
    """Ends with the words to keep, blank ones for none, or with None when all shall stay as it was."""

    CSS_PATH = "system_prompt.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel", id="system.cancel", key_display="esc", tooltip="Leave it as it was"),
    ]

    def __init__(self, system: str) -> None:
        super().__init__()
        self._system = system

    def compose(self) -> ComposeResult:
        box = _Box(self._system, id="system", soft_wrap=True, compact=True, placeholder="You are a helpful assistant.")
        box.border_title = "System prompt"
        box.move_cursor(box.document.end)
        yield box


class _Box(TextBox):
    """Enter keeps, as it sends in the chat."""

    def on_resize(self) -> None:
        self.border_subtitle = that_fits(
            self.outer_size.width - FRAME,
            "enter keeps it for the answers to come · ctrl+j new line · esc cancels",
            "enter keeps · ctrl+j new line · esc cancels",
            "enter keeps · esc cancels",
        )

    def on_key(self, event: Key) -> None:
        if event.key == "enter":
            self.screen.dismiss(self.text.strip())
        elif event.key in _NEW_LINES:
            self.insert("\n")
        else:
            return
        event.prevent_default()
        event.stop()
