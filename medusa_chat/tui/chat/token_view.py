"""An answer token by token, each marked by how it was won, and the legend that says what the marks mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from rich.segment import Segment
from rich.style import Style
from textual.app import ComposeResult
from textual.containers import VerticalGroup
from textual.content import Content
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from medusa_chat.chats.trace import TraceStep
from medusa_chat.tui.chat.fitted_line import FittedLine, in_rows
from medusa_chat.tui.chat.token_rows import Sign, TokenRows
from medusa_chat.tui.keeping import trace_step
from medusa_chat.tui.text import MUTED
from medusa_chat.tui.themes import token_variable
from medusa_chat.tui.turn import Turn
from medusa_chat.tui.won import WonTokens, kind_of, kinds

SIGNS = {
    "root": "",
    "head 1": "underline",
    "head 2": "bold",
    "head 3": "bold underline",
    "head 4": "italic",
    "head 5+": "italic underline",
    "lookup": "reverse",
    "recycle": "bold italic",
    "other": "strike",
}
"""The second sign of each kind beside its hue: what is left of it without colours."""

NO_TRACE = "No step trace is kept of this answer, so nobody knows how its tokens were won."


class TokenText(Widget):
    """Draws the rows it has to and nothing else, so that a long answer costs no more than a short one."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES = {token_variable(kind) for kind in kinds()}  # noqa: RUF012
    DEFAULT_CSS = "\n".join(
        f"TokenText .{token_variable(kind)} {{ color: ${token_variable(kind)}; text-style: {SIGNS[kind] or 'none'}; }}"
        for kind in kinds()
    )

    def __init__(self, tokens: WonTokens) -> None:
        super().__init__()
        self._tokens = tokens
        self._rows = TokenRows(1)
        self._taken = 0
        """Parts of the tokens that are in the rows."""

    def grow(self) -> None:
        """Take over what is new."""
        first, before = len(self._rows.rows) - 1, len(self._rows.rows)
        self._take()
        if len(self._rows.rows) != before:
            self.refresh(layout=True)
        else:
            self.refresh(Region(0, first, self.size.width, 1))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        if width != self._rows.width:
            self._rows, self._taken = TokenRows(width), 0
            self._take()
        return len(self._rows.rows)

    def render_line(self, y: int) -> Strip:
        base = self.rich_style
        if y >= len(self._rows.rows):
            return Strip.blank(self.size.width, base)
        return Strip(_segments(self._rows.rows[y], base, self._style)).adjust_cell_length(self.size.width, base)

    def _take(self) -> None:
        parts = self._tokens.parts
        for token, text in parts[self._taken :]:
            self._rows.add(text, kind_of(self._tokens.sources[token]))
        self._taken = len(parts)

    def _style(self, kind: str) -> Style:
        return self.get_component_rich_style(token_variable(kind), partial=True)


class TokenView(VerticalGroup):
    """Shows the steps of one answer as they come; of one that has ended without any, that there are none."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = WonTokens()
        self._text = TokenText(self.tokens)
        self._legend = FittedLine(classes="legend")
        self._steps = 0
        self._length = 0
        """Characters of the steps' texts."""
        self._ended = False

    def compose(self) -> ComposeResult:
        yield self._text
        yield self._legend

    def follow(self, turn: Turn) -> None:
        """Take over what is new of an answer whose steps are at hand."""
        fresh = [trace_step(step) for step in turn.steps[self._steps :]]
        if turn.running:
            self._add(fresh)
        else:
            self.end(fresh, turn.text)

    def end(self, steps: Sequence[TraceStep], text: str) -> None:
        """The steps that are missing, and the text of the whole answer."""
        if not self._ended:
            self._ended = True
            self._add(steps)
            self.tokens.end(text[self._length :])
            self._show()

    def _add(self, steps: Sequence[TraceStep]) -> None:
        for step in steps:
            self.tokens.add(step)
            self._length += len(step.text)
        self._steps += len(steps)
        if steps:
            self._show()

    def _show(self) -> None:
        self._text.grow()
        counts = self.tokens.counts()
        self._legend.show(lambda width: legend(counts, width))


def legend(counts: Sequence[tuple[str, int]], width: int) -> Content:
    """What the marks mean, how many tokens have each, and their shares of all."""
    total = sum(count for _, count in counts)
    if not total:
        return Content.styled(NO_TRACE, MUTED)
    entries = [
        Content.assemble(
            (kind, f"${token_variable(kind)} {SIGNS[kind]}".rstrip()),
            (f" {count} · {100 * count / total:.0f} %", MUTED),
        )
        for kind, count in counts
    ]
    return in_rows(entries, width, "   ")


def _segments(row: Sequence[Sign], base: Style, style: Callable[[str], Style]) -> list[Segment]:
    return [
        Segment("".join(sign.text for sign in signs), base + style(kind))
        for kind, signs in groupby(row, key=lambda sign: sign.kind)
    ]
