"""Where a question is typed. What is typed is only ever taken away by sending it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message
from textual.widgets import TextArea

READY = "enter sends · ctrl+j new line"
STOPPING = "stopping …"
BUSY = "answering · esc stops"
EDITING = "editing · enter asks anew · esc leaves it"
_LEFT_TO_THE_SCREEN = ("f6", "f7", "pageup", "pagedown")
"""Keys of a text area that mean something else in a chat; left in, they would lead the footer."""

WAITING = "your question waits for the model"


class Composer(TextArea):
    """Grows with its text; Enter sends, and every way to a new line that terminals can tell from Enter makes one.

    Both are taken in the order of the other keys and not as priority bindings: those overtake letters typed or pasted
    just before them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", id="composer.send", key_display="⏎", tooltip="Ask the model"),
        Binding(
            "ctrl+j,shift+enter,alt+enter",
            "newline",
            "New line",
            id="composer.newline",
            show=False,
            key_display="^j",
            tooltip="Start a new line in the question; Shift+Enter does too where the terminal can tell it from Enter",
        ),
    ]

    @dataclass
    class Submitted(Message):
        """The person wants this text sent. It has left the composer; `give_back` returns it."""

        text: str

    def __init__(self, id: str | None = None) -> None:
        super().__init__(
            id=id,
            soft_wrap=True,
            show_line_numbers=False,
            compact=True,
            placeholder="Ask something",
            tab_behavior="focus",
        )
        self.border_subtitle = READY
        self._aside = ""
        self.highlight_cursor_line = False
        for key in _LEFT_TO_THE_SCREEN:
            self._bindings.key_to_bindings.pop(key, None)

    def on_key(self, event: Key) -> None:
        if event.key == "enter":
            self.action_send()
        elif event.key in ("ctrl+j", "shift+enter", "alt+enter"):
            self.action_newline()
        else:
            return
        event.prevent_default()
        event.stop()

    def action_send(self) -> None:
        """Taken and cleared in one go, so that nothing typed meanwhile is cleared with it."""
        if self.text.strip():
            text = self.text
            self.clear()
            self.post_message(self.Submitted(text))

    def action_newline(self) -> None:
        self.insert("\n")

    def give_back(self, text: str) -> None:
        """Put unsent text before whatever was typed since."""
        self.text = f"{text}\n{self.text}" if self.text else text
        self.move_cursor(self.document.end)

    def put_aside(self, text: str) -> None:
        """Have another text worked on; what was typed so far waits for `take_back`."""
        self._aside = self.text
        self._type(text)

    def take_back(self) -> None:
        self._type(self._aside)
        self._aside = ""

    def _type(self, text: str) -> None:
        """In place of what is there, and can be undone."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def hint(self, text: str) -> None:
        if self.border_subtitle != text:
            self.border_subtitle = text
