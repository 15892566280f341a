"""Asks for a path, until what was looked for is there or the person gives up."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.text.harmless import harmless

Found = TypeVar("Found")


class PathPrompt(ModalScreen["Found | None"], Generic[Found]):
    """Ends with what was found there."""

    CSS_PATH = Path(__file__).with_name("path_prompt.tcss")

    asks: ClassVar[str]
    enter: ClassVar[str]
    """What the key does with the path."""
    hint: ClassVar[str]
    """Which path, while none is typed."""

    def __init__(self, last: str = "") -> None:
        """`last`: the path to begin with."""
        super().__init__()
        self._last = last

    async def look(self, path: Path) -> Found:
        """
        Raises:
            MedusaError: what is looked for is not there; the person is told and asked again.
        """
        raise NotImplementedError

    def compose(self) -> ComposeResult:
        with Vertical(id="box") as box:
            box.border_title = self.asks
            box.border_subtitle = f"enter {self.enter} it · esc cancels"
            yield Input(self._last, placeholder=self.hint, compact=True)
            yield Static(markup=False)

    @on(Input.Submitted)
    async def _on_submitted(self, event: Input.Submitted) -> None:
        if not (words := event.value.strip().strip("'\"")):
            return
        try:
            found = await self.look(_path(words))
        except MedusaError as error:
            self.query_one(Static).update(Content.styled(f"✗ {harmless(str(error))}", "$error"))
        else:
            self.dismiss(found)


def _path(words: str) -> Path:
    """
    Raises:
        MedusaError: there is no such home folder.
    """
    try:
        return Path(words).expanduser()
    except RuntimeError as error:
        raise MedusaError(f"{words} begins with a home folder that is not there: write the whole path.") from error
