"""Words composed for the width there is: what does not fit is left out or goes to a row of its own, never cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content
from textual.widgets import Static


class FittedLine(Static):
    """Asks for its words anew whenever its width changes."""

    def __init__(self, compose_for: Callable[[int], Content] | None = None, classes: str | None = None) -> None:
        super().__init__(classes=classes, markup=False)
        self._compose_for = compose_for

    def show(self, compose_for: Callable[[int], Content]) -> None:
        """`compose_for(cells)` is called now and with every new width."""
        self._compose_for = compose_for
        self._fit()

    def on_mount(self) -> None:
        self._fit()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        if self._compose_for is None:
            return
        width = self.content_size.width
        if not width and self.parent is not None:
            # Not shown yet: as wide as whatever it will stand in.
            width = self.container_size.width - self.gutter.width
        words = self._compose_for(width if width > 0 else self.app.size.width)
        if words != self.content:
            self.update(words)


def in_rows(parts: Sequence[Content], width: int, gap: str) -> Content:
    """The parts side by side, as many in a row as fit; none is broken."""
    rows: list[list[Content]] = []
    free = 0
    for part in parts:
        if not rows or free < len(gap) + part.cell_length:
            rows.append([part])
            free = width - part.cell_length
        else:
            rows[-1].append(part)
            free -= len(gap) + part.cell_length
    return Content("\n").join(Content(gap).join(row) for row in rows)
