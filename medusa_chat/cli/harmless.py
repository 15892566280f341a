"""Text of models, files and users is data: nothing in it may steer the terminal it is printed on."""

from __future__ import annotations

_KEPT = frozenset("\n\t")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_BIDI_CONTROLS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""They reorder what follows on the line, so shown text could read differently from what it is."""

_HARMLESS: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys((*range(0x80, 0xA0), *_BIDI_CONTROLS), _REPLACEMENT),
}


def harmless(text: str) -> str:
    """Control characters become visible pictures of themselves; newlines and tabs stay.

    Works character by character, so a stream may be cleaned piece by piece.
    """
    return text.translate(_HARMLESS)
