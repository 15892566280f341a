"""Text of models, files and users is data: nothing in it may steer the terminal it is shown on."""

from __future__ import annotations

_KEPT = frozenset("\n\t")
_LINE_SEPARATORS = (0x2028, 0x2029)
_BIDI_CONTROLS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""They reorder what follows on the line, so shown text could read differently from what it is."""
_SURROGATES = range(0xD800, 0xE000)

HARMLESS: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    **dict.fromkeys((*range(0x80, 0xA0), *_BIDI_CONTROLS, *_SURROGATES), "\N{REPLACEMENT CHARACTER}"),
    **dict.fromkeys(_LINE_SEPARATORS, "\n"),
    0x0D: None,
    0x7F: "\N{SYMBOL FOR DELETE}",
}
"""A table for `str.translate`."""


def harmless(text: str) -> str:
    """Control characters become visible pictures of themselves (ESC is ␛); newlines and tabs stay.

    Works on any cut of a stream: harmless(a) + harmless(b) == harmless(a + b).
    """
    return text.translate(HARMLESS)
