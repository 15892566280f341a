"""The prompt all lanes answer: read at a glance, and changed after a key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message

from medusa_chat.tui.text_box import TextBox

_NEW_LINE = ("ctrl+j", "shift+enter", "alt+enter")


class PromptField(TextBox):
    """Enter runs; Esc leads back to the lanes and keeps what was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "run", "Run", id="prompt.run", key_display="⏎", tooltip="Race the lanes over this prompt"),
        Binding("escape", "leave", "To the lanes", id="prompt.leave", key_display="esc", tooltip="Leave the prompt"),
        Binding(
            ",".join(_NEW_LINE),
            "newline",
            "New line",
            id="prompt.newline",
            show=False,
            key_display="^j",
            tooltip="Start a new line in the prompt",
        ),
    ]

    @dataclass
    class Run(Message):
        """Race over what is there now."""

    @dataclass
    class Left(Message):
        """Back to the lanes."""

    def __init__(self, text: str) -> None:
        super().__init__(
            text, id="prompt", soft_wrap=True, show_line_numbers=False, compact=True, placeholder="Ask all lanes"
        )
        self.tab_behavior = "focus"
        self.highlight_cursor_line = False

    def on_mount(self) -> None:
        self.border_title = "Prompt"

    def on_blur(self) -> None:
        """Where not all of it fits, its beginning is shown."""
        self.scroll_home(animate=False)

    def take_up(self) -> None:
        """Go on at the end of what is there."""
        self.move_cursor(self.document.end)
        self.focus()

    def on_key(self, event: Key) -> None:
        """In the order of the other keys: a priority binding would overtake letters typed just before."""
        if event.key == "enter":
            self.action_run()
        elif event.key in _NEW_LINE:
            self.action_newline()
        else:
            return
        event.prevent_default()
        event.stop()

    def action_run(self) -> None:
        self.post_message(self.Run())

    def action_leave(self) -> None:
        self.post_message(self.Left())

    def action_newline(self) -> None:
        self.insert("\n")
