"""Where a question is typed. What is typed is only ever taken away by sending it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message

from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.drafts import Drafts
from medusa_chat.tui.own_keys import means
from medusa_chat.tui.text import FRAME, that_fits
from medusa_chat.tui.text_box import TextBox

READY = "enter sends · ctrl+j new line"
STOPPING = "stopping …"
BUSY = "answering · enter queues · esc stops"
QUEUED = "answering · enter queues · esc takes back"
HELD = "not asked after a failure · esc takes back"
"""What waits is not asked by itself behind an answer that failed."""
KEEP_SECONDS = 2.0
"""What is typed is on the disk that much later at most."""
EDITING = "editing · enter asks anew · esc leaves it"
_LEFT_TO_THE_SCREEN = ("f6", "f7", "pageup", "pagedown")
"""Keys of a text area that mean something else in a chat; left in, they would lead the footer."""

WAITING = "your question waits for the model"
_BETWEEN = " · "


class Composer(TextBox):
    """Grows with its text; Enter sends, and every way to a new line that terminals can tell from Enter makes one.

    All its keys are taken in the order they were typed. Priority bindings overtake letters typed or pasted just before
    them, and letters overtake any other binding, which goes up through all parents to the app before it is acted on.
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
        Binding(
            "alt+e",
            "edit_outside",
            "Editor",
            id="composer.editor",
            priority=True,
            show=False,
            tooltip="Write the question in your own editor (VISUAL or EDITOR)",
        ),
        Binding(
            "alt+u",
            "wipe",
            "Clear",
            id="composer.clear",
            show=False,
            tooltip="Clear all that is written in the question; ctrl+z brings it back",
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
        self._hint = READY
        self._aside = ""
        self._drafts = Drafts()
        self.highlight_cursor_line = False
        for key in _LEFT_TO_THE_SCREEN:
            self._bindings.key_to_bindings.pop(key, None)

    async def on_mount(self) -> None:
        self.run_worker(self._remember(), group="drafts")
        self.set_interval(KEEP_SECONDS, self._keep)

    def on_resize(self) -> None:
        self._show_hint()

    def on_unmount(self) -> None:
        self._drafts.close(self.unsent)

    @property
    def unsent(self) -> str:
        """All that was typed and not sent, also what is put aside."""
        return "\n".join(filter(None, (self._aside, self.text)))

    async def _remember(self) -> None:
        """What was not sent the last time comes back."""
        if draft := await self._drafts.open():
            self.give_back(draft)

    def _keep(self) -> None:
        self._drafts.keep(self.unsent)
        if (trouble := self._drafts.trouble()) is not None:
            self.notify(trouble, severity="warning", timeout=10)

    async def on_key(self, event: Key) -> None:
        if means(self, event.key, "composer.send"):
            self.action_send()
        elif event.key in ("up", "down") and self._walk(event.key):
            pass
        elif means(self, event.key, "composer.newline"):
            self.action_newline()
        elif means(self, event.key, "composer.clear"):
            await self.run_action("wipe")
        else:
            if not event.is_printable and await self._act(event.key):
                event.stop()
            return
        event.prevent_default()
        event.stop()

    async def _act(self, key: str) -> bool:
        """What a key does to the text (rubs out, moves): here and now."""
        mine = next((bindings for node, bindings in self.screen._modal_binding_chain if node is self), None)
        for binding in mine.key_to_bindings.get(key, ()) if mine is not None else ():
            if not binding.priority and await self.app.run_action(binding.action, self):
                return True
        return False

    def action_send(self) -> None:
        """Taken and cleared in one go, so that nothing typed meanwhile is cleared with it."""
        if self.text.strip():
            text = self.text
            self.clear()
            self._drafts.add(text)
            self.post_message(self.Submitted(text))

    def action_newline(self) -> None:
        self.insert("\n")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Clearing is offered where something is written."""
        return self.document.end != (0, 0) if action == "wipe" else super().check_action(action, parameters)

    def action_wipe(self) -> None:
        """Like everything that is typed it can be undone."""
        self._type("")

    def action_edit_outside(self) -> None:
        """The screen is the editor's until it ends; what the engine says meanwhile waits."""
        from medusa_chat.tui.chat.outside import edited_outside

        try:
            with self.app.suspend():
                text = edited_outside(self.text)
        except MedusaError as error:
            self.notify(str(error), severity="error")
        except SuspendNotSupported:
            self.notify("This terminal cannot be lent to an editor; your question stays as it was.", severity="error")
        else:
            self._type(text)
        self.focus()

    def _walk(self, key: str) -> bool:
        """Up in the first row and down in the last one walk through what was asked before."""
        past, place = self._drafts.past, self.cursor_location
        if key == "up":
            prompt = past.back(self.text) if self.navigator.is_first_wrapped_line(place) else None
        else:
            prompt = past.forward(self.text) if self.navigator.is_last_wrapped_line(place) else None
        if prompt is not None:
            self._type(prompt)
        return prompt is not None

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
        """What the keys do now, on the frame."""
        self._hint = text
        self._show_hint()

    def _show_hint(self) -> None:
        """Where not all of it fits, what is said first goes first."""
        parts = self._hint.split(_BETWEEN)
        text = that_fits(self.outer_size.width - FRAME, *(_BETWEEN.join(parts[at:]) for at in range(len(parts))))
        if self.border_subtitle != text:
            self.border_subtitle = text
