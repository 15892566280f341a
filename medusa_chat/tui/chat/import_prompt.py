"""Asks for an exported conversation, until a file is one or the person gives up."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from medusa_chat.tui.path_prompt import PathPrompt
from medusa_chat.tui.shelf import Shelf


class ImportPrompt(PathPrompt[int]):
    """Ends with the id of the new conversation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel", id="import.cancel", key_display="esc", tooltip="Import nothing"),
    ]

    asks = "Import a conversation"
    enter = "reads"
    hint = "Path of a JSON file that was exported"

    def __init__(self, shelf: Shelf) -> None:
        super().__init__()
        self._shelf = shelf

    async def look(self, path: Path) -> int:
        return await self._shelf.bring_in(path)
