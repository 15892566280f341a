"""Markdown as answers use it, without what reaches beyond the text: no links, images, raw HTML or entities."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

_ADDRESS = re.compile(r"://[^\s<>*`\\]*[^\s<>*`\\_~.,;:!?]")
"""Without what may end the emphasis or the sentence it stands in."""


def parser() -> MarkdownIt:
    """Links, HTML and entities are left in the text as they were written, so that nothing an answer says is hidden."""
    made = MarkdownIt("gfm-like", {"html": False, "linkify": False}).disable(
        ["link", "image", "autolink", "entity", "reference"]
    )
    made.core.ruler.push("line ends", _keep_line_ends)
    made.inline.ruler.after("text", "address", _keep_address)
    return made


def _keep_address(state: StateInline, silent: bool) -> bool:
    """Lines and tildes in an address are no emphasis, as they would not be in a link."""
    if (match := _ADDRESS.match(state.src, state.pos)) is None:
        return False
    if not silent:
        state.pending += match[0]
    state.pos = match.end()
    return True


def _keep_line_ends(state: StateCore) -> None:
    """Models write lists and verses with single line ends, which Markdown proper would join to one paragraph."""
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"


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
        CodeBlock(token.content.rstrip("\n"), language(token))
        for token in parser().parse(text)
        if token.type in ("fence", "code_block")
    ]


def language(token: Token) -> str:
    """Of a block of code, as the answer calls it; "" for none."""
    return token.info.split()[0] if token.info.strip() else ""
