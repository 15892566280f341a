"""The muted line under an answer: how it went, in as many words as there is room for."""

from __future__ import annotations

from textual.content import Content

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.chat.fitted_line import FittedLine, in_rows
from medusa_chat.tui.turn import ENDINGS, Turn

_GAP = " · "
_SPEED = range(1, 6)
"""Ranks of figures that belong together."""
_TWO_ROWS_FROM = 44
"""Cells from which what does not fit in one row goes to a second; a narrower screen has few rows, too."""


class Note(FittedLine):
    """Shown when the answer has ended."""

    def __init__(self) -> None:
        super().__init__(classes="note")
        self.display = False

    def tell(self, turn: Turn) -> None:
        self.show(lambda width: _words(turn, width))
        self.display = True


def summary(turn: Turn, width: int) -> str:
    """The figures of an answer in `width` cells and at most two rows; the least telling are left out first."""
    parts = [*_figures(turn), (0, ENDINGS[turn.reason] if turn.reason is not None else "broken off")]
    while len(parts) > 1 and not _fits(_rows(parts, width), width):
        parts.remove(max(parts))
    return _rows(parts, width)


def _rows(parts: list[tuple[int, str]], width: int) -> str:
    """In one row, else speed above and the rest below, else as it comes."""
    speed, rest = [text for rank, text in parts if rank in _SPEED], [text for rank, text in parts if rank not in _SPEED]
    for rows in ([*speed, *rest],), (speed, rest):
        if all(rows) and _fits(text := "\n".join(_GAP.join(row) for row in rows), width):
            return text
    return str(in_rows([Content(text) for _, text in parts], width, _GAP))


def _fits(text: str, width: int) -> bool:
    rows = text.split("\n")
    return len(rows) <= (2 if width >= _TWO_ROWS_FROM else 1) and all(len(row) <= width for row in rows)


def _figures(turn: Turn) -> list[tuple[int, str]]:
    """(how soon it is left out: the highest first, words)."""
    tally = turn.tally
    if not tally.steps:
        return []
    figures = [
        (4, f"{tally.tokens} tokens"),
        (5, f"{tally.ms / 1000:.1f} s"),
        (1, f"{tally.tokens_per_second or 0:.1f} tokens/s"),
        (2, f"{tally.acceleration_rate or 0:.2f} tokens/step"),
    ]
    if tally.speedup is not None:
        figures.append((3, f"{tally.speedup:.2f}×"))
    if turn.tested:
        figures.append((6, f"{tally.tokens - tally.steps} of {turn.tested} guesses kept"))
    if turn.first_token is not None:
        figures.append((7, f"first token {turn.first_token:.2f} s"))
    return figures


def _words(turn: Turn, width: int) -> Content:
    if turn.failure is None:
        return Content(summary(turn, width))
    failed = failure(turn.failure)
    return Content.assemble(failed, "\n", summary(turn, width)) if turn.text else failed


def failure(advice: str) -> Content:
    """Marked by a sign as well as a colour."""
    return Content.styled(f"✗ {harmless(advice)}", "bold $error")
