"""Foreign text made fit to show: what a model, a file or a person wrote is data and stays visible, never obeyed."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

from medusa_chat.engine.text.harmless import HARMLESS

MUTED = "$muted"
FAINT = "$faint"
"""Variables every theme has: the $text-muted of the framework is relative to a background only CSS knows."""

_PIECE: dict[int, str | None] = {**HARMLESS, 0x0A: "↵", 0x0D: "↵", 0x09: "⇥", 0x20: "·"}


def showable_piece(piece: str) -> str:
    """A token on one line: spaces are ·, line ends ↵, tabs ⇥."""
    return piece.translate(_PIECE) or "∅"


def fitted(text: str, cells: int) -> str:
    """Exactly `cells` wide on the terminal: padded, or cut with an ellipsis."""
    if cell_len(text) <= cells:
        return set_cell_size(text, cells)
    return set_cell_size(text, cells - 1) + "…" if cells > 0 else ""


FRAME = 6
"""Cells of a box's lower border that its words cannot have."""


def that_fits(cells: int, *wordings: str) -> str:
    """The first that has room; the last where none has."""
    return next((words for words in wordings if cell_len(words) <= cells), wordings[-1])


def figure(value: float | None, decimals: int = 2) -> str:
    """A measured number, or a dash where nothing was measured."""
    return "–" if value is None else f"{value:.{decimals}f}"
