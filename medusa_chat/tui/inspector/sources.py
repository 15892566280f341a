"""Who proposed a token, as a sign and a hue: one letter beside the colour, so that neither is needed alone."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from medusa_chat.tui.text import MUTED
from medusa_chat.tui.themes import token_variable
from medusa_chat.tui.won import kind_of

_SIGNS = {"root": "●", "lookup": "L", "recycle": "R"}
_WORDS = {"recycle": "recycled"}


def sign_of(source: str) -> tuple[str, str]:
    """(one cell, its hue)."""
    head = _head(source)
    sign = _SIGNS.get(source, "?") if head is None else str(head) if head < 10 else "+"
    return sign, f"${token_variable(kind_of(source))}"


def legend(sources: Iterable[str]) -> Content:
    """The signs of those that occur, in few words."""
    found = set(sources) - {"root"}
    heads = sorted(source for source in found if _head(source) is not None)
    parts: list[tuple[str, str]] = [(sign, f"bold {hue}") for sign, hue in map(sign_of, heads)]
    if heads:
        parts.append((" head  ", MUTED))
    for source in sorted(found.difference(heads)):
        sign, hue = sign_of(source)
        parts += [(sign, f"bold {hue}"), (f" {_WORDS.get(source, source)}  ", MUTED)]
    return Content.assemble(*parts)


def _head(source: str) -> int | None:
    number = source.removeprefix("head ")
    return int(number) if number != source and number.isdecimal() and int(number) > 0 else None
