"""Markdown as one flat, selectable value, at a small part of the cost of a widget for every block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markdown_it.token import Token
from textual.content import Content
from textual.highlight import highlight

from medusa_chat.tui.hanging import CODE_BAR, QUOTE_BAR, Hanging, Line, under
from medusa_chat.tui.markup import language, parser
from medusa_chat.tui.tables import Table
from medusa_chat.tui.text import MUTED

_TAB = "    "
_INLINE_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}
_HEADING_STYLES = {
    "h1": "bold underline $primary",
    "h2": "bold $primary",
    "h3": "bold italic $primary",
    "h4": "italic $primary",
    "h5": "italic $muted",
    "h6": "underline $muted",
}
_SET_OFF = ("fence", "code_block", "table_close")
"""Blocks that even in a tight list have a gap below them."""
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
        """Of the list items and quotes that are open: a marker until it has been shown, what stands under it from then
        on."""
        self._loose = [True]
        """Of the text and the lists and quotes that are open, whether there are gaps between their blocks."""
        self._gap = False
        """Comes before the next block in the same list or quote."""
        self._text_end = 0
        """Line of the Markdown where the last paragraph ended."""
        self._style = ""
        self._rows: list[list[Content]] = []
        self._alignments: list[str] = []
        """Of the table that is open."""

    def lines(self, tokens: Iterable[Token]) -> Iterator[Line]:
        for token in tokens:
            if self._gap and token.nesting >= 0:
                yield from self._before(token)
            if token.type == "inline":
                yield from self._inline(token)
            elif token.type in ("fence", "code_block"):
                for lead, text in _code(token, self._began):
                    yield Line(self._lead(lead), text)
                self._began = False
            elif token.type == "hr":
                yield Line(self._lead(), Content.styled("─" * 12, MUTED))
            elif token.nesting > 0:
                self._open(token)
            else:
                yield from self._close(token)
            if token.nesting <= 0 and token.type not in ("inline", "list_item_close") and not self._rows:
                yield from self._behind(token)

    def _open(self, token: Token) -> None:
        kind = token.type
        if kind == "list_item_open":
            self._leads.append(f"{token.info}. " if token.info else "• ")
        elif kind == "blockquote_open":
            self._leads.append(QUOTE_BAR)
            self._loose.append(True)
        elif kind in ("bullet_list_open", "ordered_list_open"):
            self._loose.append(True)
        elif kind == "paragraph_open":
            self._loose[-1] = not token.hidden
            self._text_end = token.map[1] if token.map else 0
        elif kind == "heading_open":
            self._style = _HEADING_STYLES[token.tag]
        elif kind == "tr_open":
            self._rows.append([])
        elif kind == "th_open":
            self._alignments.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))

    def _close(self, token: Token) -> Iterator[Line]:
        kind = token.type
        if kind in ("list_item_close", "blockquote_close"):
            if self._leads[-1] != under(self._leads[-1]):
                yield Line(self._lead(), Content(""))
            self._leads.pop()
        if kind in ("blockquote_close", "bullet_list_close", "ordered_list_close"):
            self._loose.pop()
        elif kind == "heading_close":
            self._style = ""
        elif kind == "table_close":
            table = Table(self._rows, self._alignments)
            yield from [table.next_line(self._lead()) for _ in table.rows]
            self._rows, self._alignments = [], []

    def _before(self, token: Token) -> Iterator[Line]:
        """A gap, unless a list belongs to the text right above it."""
        self._gap = False
        if not (token.type.endswith("_list_open") and token.map and token.map[0] == self._text_end):
            yield Line("".join(map(under, self._leads)), _BLANK.text)

    def _behind(self, token: Token) -> Iterator[Line]:
        """A gap at once where the parts of a text may be divided, else when something follows."""
        self._gap = token.level > 0 and (self._gap or self._loose[-1] or token.type in _SET_OFF)
        if token.level == 0:
            yield _BLANK

    def _inline(self, token: Token) -> Iterator[Line]:
        text = _inline(token.children or [], self._style)
        if self._rows:
            self._rows[-1].append(text)
        else:
            for line in text.split("\n", allow_blank=True):
                yield Line(self._lead(), line)

    def _lead(self, own: str = "") -> str:
        """Of the next line."""
        lead = "".join(self._leads) + own
        self._leads = list(map(under, self._leads))
        return lead


def _code(token: Token, began: bool) -> Iterator[tuple[str, Content]]:
    """Set off by a bar, named by its language, indented as it was, and coloured where the language is known. Of a block
    that began before, neither the name nor, where nothing of it is left, a line."""
    code, name = token.content.rstrip("\n").expandtabs(len(_TAB)), language(token)
    if began and not code:
        return
    if name and not began:
        yield CODE_BAR, Content.styled(name, MUTED)
    for line in highlight(code, language=name or "text").split("\n", allow_blank=True):
        yield CODE_BAR, line


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
            parts.append((token.content.replace("\t", _TAB), " ".join([*open_styles, "$secondary"])))
        else:
            text = "\n" if token.type == "hardbreak" else token.content.replace("\t", _TAB)
            parts.append((text, " ".join(open_styles)))
    return Content.assemble(*parts)
