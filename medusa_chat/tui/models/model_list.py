"""The list of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class ModelList(OptionList):
    """Moves with arrows and with the keys of vi."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", "Next model", id="models.next", show=False, tooltip="The next model"),
        Binding("k", "cursor_up", "Previous model", id="models.previous", show=False, tooltip="The model before"),
        Binding("g", "first", "First model", id="models.first", show=False, tooltip="The first model"),
        Binding("G", "last", "Last model", id="models.last", show=False, tooltip="The last model"),
    ]

    def __init__(self) -> None:
        super().__init__(id="models", markup=False, compact=True)
        self._rows: dict[str, Content] = {}

    @property
    def marked(self) -> str | None:
        """Name of the model under the cursor."""
        return self.highlighted_option.id if self.highlighted_option is not None else None

    def show(self, rows: Sequence[tuple[str, Content]]) -> None:
        """(name, its lines); the cursor stays where it was, only rows that changed are drawn anew."""
        if [name for name, _ in rows] != list(self._rows):
            marked = self.marked
            self.set_options([Option(content, id=name) for name, content in rows])
            names = [name for name, _ in rows]
            self.highlighted = names.index(marked) if marked in names else 0 if names else None
        else:
            for name, content in rows:
                if not content.is_same(self._rows[name]):
                    self.replace_option_prompt(name, content)
        self._rows = dict(rows)

    def mark(self, name: str) -> bool:
        """Put the cursor there; False where there is no such model."""
        if name in self._rows:
            self.highlighted = list(self._rows).index(name)
        return name in self._rows
