"""The one line a value or a name is typed into, laid over the place where it stands in the list."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Blur
from textual.message import Message
from textual.widgets import Input


class ValueLine(Input):
    """Hidden until it is needed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape", "give_up", "Cancel", id="setting.cancel", key_display="esc", tooltip="Keep the value there was"
        ),
    ]

    class GivenUp(Message):
        """What was typed is not wanted."""

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=True)
        self.display = False

    def open(self, text: str, x: int, y: int, width: int) -> None:
        """In place of what stands there, in cells of the list."""
        self.value = text
        self.styles.offset = (x, y)
        self.styles.width = max(4, width)
        self.display = True
        self.focus()

    def action_give_up(self) -> None:
        self.post_message(self.GivenUp())

    def on_blur(self, event: Blur) -> None:
        """A click elsewhere gives up too; another window does not."""
        if self.app.app_focus:
            self.post_message(self.GivenUp())
