"""Where in the answer one is: a few lines around this step's tokens, which stand out."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.tui.text import FAINT, MUTED


def passage(before: str, here: str, after: str, width: int, rows: int) -> Content:
    """`rows` lines of at most `width` cells; what this step said is in view, most of the others what was before it."""
    if width < 2 or rows < 1:
        return Content("")
    span = width * (rows + 1)
    lead, tail = harmless(before)[-span:], harmless(after)[:span]
    text = Content.assemble((lead, MUTED), (harmless(here) or "▏", "bold $accent underline"), (tail, FAINT))
    lines = _lines(text, width)
    end = len(_lines(text[: len(lead) + max(len(harmless(here)), 1)], width))
    first = max(0, min(end - rows + (1 if rows > 2 else 0), len(lines) - rows))
    return Content("\n").join(lines[first : first + rows])


def _lines(text: Content, width: int) -> list[Content]:
    return text.expand_tabs(4).wrap(width)


class Passage(Widget):
    """Redrawn for each step."""

    def __init__(self) -> None:
        super().__init__()
        self._said = ("", "", "")

    def show(self, said: tuple[str, str, str]) -> None:
        if said != self._said:
            self._said = said
            self.refresh()

    def render(self) -> Content:
        return passage(*self._said, self.size.width, self.size.height)
