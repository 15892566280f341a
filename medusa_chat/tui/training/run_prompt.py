"""Asks for the folder of a training run, until one is or the person gives up."""

from __future__ import annotations

import asyncio
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
from medusa_chat.tui.training.following import Following


class RunPrompt(ModalScreen["Following | None"]):
    """Ends with the run in that folder."""

    CSS_PATH = "run_prompt.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", "Cancel", id="run.cancel", key_display="esc", tooltip="Follow nothing"),
    ]

    def __init__(self, last: str) -> None:
        """`last`: the folder to begin with."""
        super().__init__()
        self._last = last

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = "Follow a training run"
            box.border_subtitle = "enter follows it · esc cancels"
            yield Input(self._last, placeholder="Folder given to medusa-chat train with --out", compact=True)
            yield Static(markup=False)

    @on(Input.Submitted)
    async def _on_submitted(self, event: Input.Submitted) -> None:
        if not (words := event.value.strip().strip("'\"")):
            return
        try:
            run = await asyncio.to_thread(lambda: Following.begin(_folder(words)))
        except MedusaError as error:
            self.query_one(Static).update(Content.assemble(("✗ ", "bold $error"), harmless(str(error))))
        else:
            self.dismiss(run)


def _folder(words: str) -> Path:
    """
    Raises:
        MedusaError: there is no such home folder.
    """
    try:
        return Path(words).expanduser().absolute()
    except RuntimeError as error:
        raise MedusaError(f"{words} begins with a home folder that is not there: write the whole path.") from error
