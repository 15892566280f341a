"""Who proposed a token, as a sign and a hue: one letter beside the colour, so that neither is needed alone."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content

from medusa_chat.tui.text import MUTED

_HEAD_HUES = ("$primary", "$secondary", "$accent", "$success")
_OTHERS = {"root": ("●", "$foreground"), "lookup": ("L", "$warning"), "recycle": ("R", "$error")}
_WORDS = {"recycle": "recycled"}


def sign_of(source: str) -> tuple[str, str]:
    """(one cell, its hue)."""
    if (head := _head(source)) is not None:
        return (str(head) if head < 10 else "+"), _HEAD_HUES[(head - 1) % len(_HEAD_HUES)]
    return _OTHERS.get(source, ("?", MUTED))


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
