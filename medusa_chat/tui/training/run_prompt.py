"""Asks for the folder of a training run, until one is or the person gives up."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from medusa_chat.tui.path_prompt import PathPrompt
from medusa_chat.tui.training.following import Following


class RunPrompt(PathPrompt[Following]):
    """Ends with the run in that folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel", id="run.cancel", key_display="esc", tooltip="Follow nothing"),
    ]

    asks = "Follow a training run"
    enter = "follows"
    hint = "Folder given to medusa-chat train with --out"

    async def look(self, path: Path) -> Following:
        return await asyncio.to_thread(Following.begin, path.absolute())
