"""Markdown as one flat, selectable value, at a small part of the cost of a widget for every block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from markdown_it.token import Token
from textual.content import Content
from textual.highlight import highlight

from medusa_chat.tui.hanging import Hanging, Line, under
from medusa_chat.tui.markup import language, parser
from medusa_chat.tui.text import FAINT, MUTED

_CODE_BAR = "▎ "
_QUOTE_BAR = "▌ "
_TAB = "    "
_INLINE_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_BLANK = Line("", Content(" "))


def flat(text: str, goes_on: bool = False, began: bool = False) -> Content:
    """All of a text, or a part of it.

    Args:
        goes_on: What comes next continues the code block that this ends with.
        began: The code block that this begins with is continued.
    """
    lines = [line for line in _Flattening(began).lines(parser().parse(text)) if line.lead or line.text]
    return Hanging(lines[:-1] if goes_on else lines)


class _Flattening:
    """Goes through the tokens of a text once."""

    def __init__(self, began: bool) -> None:
        self._began = began
        self._leads: list[str] = []
        """Of the lists and quotes that are open: a marker until it has been shown, what stands under it from then on."""
        self._style = ""
        self._rows: list[list[Content]] | None = None
        """Of the table that is open."""

    def lines(self, tokens: Iterable[Token]) -> Iterator[Line]:
        for token in tokens:
            if token.type == "inline":
                yield from self._inline(token)
            elif token.type in ("fence", "code_block"):
                yield from self._led(_code(token, self._began), FAINT)
                self._began = False
                yield Line("".join(under(lead) for lead in self._leads), Content(" "), MUTED)
            elif token.type == "hr":
                yield from self._led([("", Content.styled("─" * 12, MUTED))])
            else:
                yield from self._open_or_close(token)

    def _open_or_close(self, token: Token) -> Iterator[Line]:
        kind = token.type
        if kind == "list_item_open":
            self._leads.append(f"{token.info}. " if token.info else "• ")
        elif kind == "blockquote_open":
            self._leads.append(_QUOTE_BAR)
        elif kind in ("list_item_close", "blockquote_close"):
            self._leads.pop()
        elif kind == "heading_open":
            self._style = "bold $primary"
        elif kind == "heading_close":
            self._style = ""
        elif kind == "table_open":
            self._rows = []
        elif kind == "tr_open" and self._rows is not None:
            self._rows.append([])
        elif kind == "table_close" and self._rows is not None:
            yield from self._led(("", row) for row in _table(self._rows))
            self._rows = None
        if token.nesting < 0 and token.level == 0:
            yield _BLANK

    def _inline(self, token: Token) -> Iterator[Line]:
        text = _inline(token.children or [], self._style)
        if self._rows is not None:
            self._rows[-1].append(text)
        else:
            yield from self._led(("", line) for line in text.split("\n", allow_blank=True))

    def _led(self, lines: Iterable[tuple[str, Content]], style: str = MUTED) -> Iterator[Line]:
        for lead, text in lines:
            yield Line("".join(self._leads) + lead, text, style)
            self._leads = [under(lead) for lead in self._leads]


def _code(token: Token, began: bool) -> Iterator[tuple[str, Content]]:
    """Set off by a bar, named by its language, indented as it was, and coloured where the language is known. Of a block
    that began before, neither the name nor, where nothing of it is left, a line."""
    code, name = token.content.rstrip("\n").expandtabs(len(_TAB)), language(token)
    if began and not code:
        return
    if name and not began:
        yield _CODE_BAR, Content.styled(name, MUTED)
    for line in highlight(code, language=name or "text").split("\n", allow_blank=True):
        yield _CODE_BAR, line


def _table(rows: Sequence[Sequence[Content]]) -> list[Content]:
    """Columns as wide as their widest cell, a line under the head."""
    widths = [max(cell.cell_length for cell in column) for column in zip(*rows, strict=False)]
    lines = [
        Content("  ").join([cell.pad_right(width - cell.cell_length) for cell, width in zip(row, widths, strict=False)])
        for row in rows
    ]
    under_head = Content.styled("  ".join("─" * width for width in widths), FAINT)
    return [lines[0].stylize("bold"), under_head, *lines[1:]]


def _inline(tokens: Iterable[Token], style: str) -> Content:
    open_styles = [style] if style else []
    parts: list[tuple[str, str]] = []
    for token in tokens:
        name = token.type.removesuffix("_open").removesuffix("_close")
        if name in _INLINE_STYLES:
            if token.nesting > 0:
                open_styles.append(_INLINE_STYLES[name])
            else:
                open_styles.remove(_INLINE_STYLES[name])
        elif token.type == "code_inline":
            parts.append((token.content.replace("\t", _TAB), "$secondary"))
        else:
            text = "\n" if token.type == "hardbreak" else token.content.replace("\t", _TAB)
            parts.append((text, " ".join(open_styles)))
    return Content.assemble(*parts)
