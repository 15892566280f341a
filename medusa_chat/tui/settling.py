"""Which part of a growing Markdown text is settled: whatever follows, it will look as it does."""

from __future__ import annotations

from dataclasses import dataclass

from markdown_it.token import Token

from medusa_chat.tui.markup import parser

MOST_CHARACTERS = 3000
MOST_FENCE_LINES = 60
"""Every token added to a code block has the whole of it coloured anew."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Two Markdown texts that show what one did."""

    done: str
    rest: str
    in_code: bool = False
    """A block of code ends the one and is continued by the other."""


def settled(text: str) -> Cut | None:
    """Everything but the last block of a text that has become long, or the lines but the last few of a long fence; None
    where nothing need be cut."""
    if len(text) <= MOST_CHARACTERS and text.count("\n") <= MOST_FENCE_LINES:
        return None
    blocks = [
        token for token in parser().parse(text) if token.level == 0 and token.map is not None and token.nesting >= 0
    ]
    if not blocks or (place := blocks[-1].map) is None:
        return None
    lines = text.splitlines(keepends=True)
    last, (start, end) = blocks[-1], place
    if last.type == "fence" and len(lines) - start > MOST_FENCE_LINES:
        closed = lines[end - 1].strip().startswith(last.markup)
        return None if closed else _in_fence(lines, start, last)
    if len(text) <= MOST_CHARACTERS or not start:
        return None
    return Cut("".join(lines[:start]), "".join(lines[start:]))


def _in_fence(lines: list[str], start: int, fence: Token) -> Cut | None:
    """The fence is closed behind its last whole line and opened again before the rest; lines without words, which are
    not shown where they end the block, are left to the rest."""
    opening, place = lines[start], len(lines) - 1
    while place > start + 1 and not lines[place - 1].strip():
        place -= 1
    if place == start + 1:
        return None
    return Cut("".join(lines[:place]) + fence.markup, opening + "".join(lines[place:]), in_code=True)
