"""Two small questions: yes or no, and a line of text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless


class Confirm(ModalScreen[bool]):
    """Ends with whether the person agrees; Esc is no."""

    CSS_PATH = "asking.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", id="confirm.yes", tooltip="Do it"),
        Binding("n,escape", "answer(False)", "No", id="confirm.no", key_display="n", tooltip="Leave all as it is"),
        Binding("left", "app.focus_previous", "Left", id="confirm.left", show=False, tooltip="The button before"),
        Binding("right", "app.focus_next", "Right", id="confirm.right", show=False, tooltip="The next button"),
    ]

    def __init__(self, question: str, yes: str) -> None:
        """`yes` names what will be done."""
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_subtitle = "y · n"
            yield Static(Content(harmless(self._question)), markup=False)
            with Vertical(id="buttons"):
                yield Button(Content(f"{self._yes}  y"), id="yes", compact=True)
                yield Button(Content("Leave it  n"), id="no", compact=True)

    def on_mount(self) -> None:
        self.query_one("#no").focus()

    @on(Button.Pressed)
    def _on_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


class AskLine(ModalScreen[bool]):
    """Asks until what was typed could be taken (True) or the person gives up."""

    CSS_PATH = "asking.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel", id="ask.cancel", key_display="esc", tooltip="Leave all as it is"),
    ]

    def __init__(self, question: str, hint: str, take: Callable[[str], object]) -> None:
        """`take` runs on a thread; what it raises as MedusaError is said, and the line can be changed."""
        super().__init__()
        self._question = question
        self._hint = hint
        self._take = take

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_subtitle = "enter takes it · esc goes back"
            yield Static(Content(self._question), markup=False)
            yield Input(placeholder=self._hint, compact=True)
            yield Static(id="problem", markup=False)

    @on(Input.Submitted)
    async def _on_submitted(self, event: Input.Submitted) -> None:
        if not (line := event.value.strip()):
            return
        try:
            await asyncio.to_thread(self._take, line)
        except MedusaError as error:
            problem = self.query_one("#problem", Static)
            problem.update(Content.styled(f"✗ {harmless(str(error))}", "$error"))
            problem.display = True
        else:
            self.dismiss(True)

    def action_cancel(self) -> None:
        self.dismiss(False)
