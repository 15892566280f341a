"""Words composed for the width there is: what does not fit is left out or goes to a row of its own, never cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static

from medusa_chat.tui.laid_out_once import LaidOutOnce


class FittedLine(Static, LaidOutOnce):
    """Asks for its words anew whenever it is laid out."""

    def __init__(self, classes: str) -> None:
        super().__init__(classes=classes, markup=False)
        self._compose_for: Callable[[int], Content] = lambda width: Content("")

    def show(self, compose_for: Callable[[int], Content]) -> None:
        """`compose_for(cells)` says what to show in that width."""
        self._compose_for = compose_for
        self.clear_cached_dimensions()
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        words = self._compose_for(width)
        if words != self.content:
            # This is the layout they are for: asking for another would double what each line costs.
            self.update(words, layout=False)
        return super().get_content_height(container, viewport, width)


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
