"""Asks for the path of an exported conversation, until a file is one or the person gives up."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.shelf import Shelf


class ImportPrompt(ModalScreen["int | None"]):
    """Ends with the id of the new conversation."""

    CSS_PATH = "import_prompt.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel", id="import.cancel", key_display="esc", tooltip="Import nothing"),
    ]

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf

    def compose(self) -> ComposeResult:
        with Vertical(id="import") as page:
            page.border_title = "Import a conversation"
            page.border_subtitle = "enter reads it · esc cancels"
            yield Input(placeholder="Path of a JSON file that was exported", compact=True)
            yield Static(markup=False)

    @on(Input.Submitted)
    async def _on_submitted(self, event: Input.Submitted) -> None:
        if not (words := event.value.strip().strip("'\"")):
            return
        try:
            conversation = await self._shelf.bring_in(_path(words))
        except MedusaError as error:
            self.query_one(Static).update(Content.styled(f"✗ {harmless(str(error))}", "$error"))
        else:
            self.dismiss(conversation)


def _path(words: str) -> Path:
    """
    Raises:
        MedusaError: there is no such home folder.
    """
    try:
        return Path(words).expanduser()
    except RuntimeError as error:
        raise MedusaError(f"{words} begins with a home folder that is not there: write the whole path.") from error
