"""Markdown as answers use it, without what reaches beyond the text: no links, images, raw HTML or entities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from textual.content import Content
from textual.highlight import highlight

from medusa_chat.tui.text import FAINT, MUTED

_BAR = "▎ "
_INLINE_STYLES = {"strong": "bold", "em": "italic", "s": "strike"}


def parser() -> MarkdownIt:
    """Links, HTML and entities are left in the text as they were written, so that nothing an answer says is hidden."""
    made = MarkdownIt("gfm-like", {"html": False, "linkify": False}).disable(
        ["link", "image", "autolink", "entity", "reference"]
    )
    made.core.ruler.push("line ends", _keep_line_ends)
    return made


def _keep_line_ends(state: StateCore) -> None:
    """Models write lists and verses with single line ends, which Markdown proper would join to one paragraph."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"


def flat(text: str) -> Content:
    """One flat, selectable value for text that no longer changes, at a small part of the cost of live blocks."""
    blocks = [block for block in _blocks(parser().parse(text)) if block]
    return Content("\n").join(blocks)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """One of an answer."""

    code: str
    """Without fences; ends without a line end."""
    language: str
    """As the answer calls it; "" for none."""

    @property
    def lines(self) -> int:
        return self.code.count("\n") + 1


def code_blocks(text: str) -> list[CodeBlock]:
    """All of a text, in order; one that is still open counts."""
    return [
        CodeBlock(token.content.rstrip("\n"), _language(token))
        for token in parser().parse(text)
        if token.type in ("fence", "code_block")
    ]


def _language(token: Token) -> str:
    return token.info.split()[0] if token.info.strip() else ""


def _code(token: Token) -> Content:
    """Set off by a bar, named by its language, indented as it was, and coloured where the language is known."""
    code, language = token.content.rstrip("\n").expandtabs(4), _language(token)
    lines = highlight(code, language=language or "text").split("\n", allow_blank=True)
    named = [Content.styled(language, MUTED)] if language else []
    return Content("\n").join(Content.assemble((_BAR, FAINT), line) for line in (*named, *lines))


def _blocks(tokens: Sequence[Token]) -> Iterable[Content]:
    lists: list[int | None] = []
    style = ""
    marker = ""
    quoted = 0
    rows: list[list[Content]] | None = None
    for token in tokens:
        if rows is not None and token.type == "inline":
            rows[-1].append(_inline(token.children or [], ""))
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open" and rows is not None:
            rows.append([])
        elif token.type == "table_close" and rows is not None:
            yield _table(rows)
            yield Content(" ")
            rows = None
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            lists.append(int(token.attrGet("start") or 1) if token.type.startswith("ordered") else None)
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
            if not lists:
                yield Content(" ")
        elif token.type == "list_item_open":
            marker = "• " if lists[-1] is None else f"{token.info}. "
        elif token.type in ("blockquote_open", "blockquote_close"):
            quoted += 1 if token.nesting > 0 else -1
            if not quoted and not lists:
                yield Content(" ")
        elif token.type == "heading_open":
            style = "bold $primary"
        elif token.type == "inline":
            bars = "▌ " * quoted
            lead = "  " * max(0, len(lists) - 1) + (marker or ("  " if lists else "")) + bars
            under = " " * (len(lead) - len(bars)) + bars
            lines = _inline(token.children or [], style).split("\n", allow_blank=True)
            leads = [lead, *[under] * (len(lines) - 1)]
            yield Content("\n").join(
                Content.assemble((before, MUTED), line) for before, line in zip(leads, lines, strict=True)
            )
            marker = ""
            if not lists and token.level <= 1:
                yield Content(" ")
        elif token.type in ("fence", "code_block"):
            yield _code(token)
            yield Content(" ")
        elif token.type == "hr":
            yield Content.styled("─" * 12, MUTED)
        elif token.type == "heading_close":
            style = ""


def _table(rows: Sequence[Sequence[Content]]) -> Content:
    """Columns as wide as their widest cell, a line under the head."""
    widths = [max(cell.cell_length for cell in column) for column in zip(*rows, strict=False)]
    lines = [
        Content("  ").join(cell.pad_right(width - cell.cell_length) for cell, width in zip(row, widths, strict=False))
        for row in rows
    ]
    under = Content.styled("  ".join("─" * width for width in widths), FAINT)
    return Content("\n").join([lines[0].stylize("bold"), under, *lines[1:]])


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
            parts.append((token.content, "$secondary"))
        else:
            text = "\n" if token.type == "hardbreak" else token.content
            parts.append((text, " ".join(open_styles)))
    return Content.assemble(*parts)
