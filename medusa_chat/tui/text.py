"""Foreign text made fit to show: what a model, a file or a person wrote is data and stays visible, never obeyed."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

MUTED = "$foreground 62%"
FAINT = "$foreground 34%"
"""Inside `Content` the theme's own $text-muted cannot be used: it is relative to a background only CSS knows."""

_KEPT = "\n\t"
_LINE_SEPARATORS = "\u2028\u2029"
_BIDI = "\u200e\u200f\u061c" + "".join(map(chr, range(0x202A, 0x202F))) + "".join(map(chr, range(0x2066, 0x206A)))

_SHOWN: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in _KEPT},
    **dict.fromkeys((*range(0x80, 0xA0), *map(ord, _BIDI), *range(0xD800, 0xE000)), "\ufffd"),
    **{ord(separator): "\n" for separator in _LINE_SEPARATORS},
    0x0D: None,
    0x7F: "\u2421",
}

_PIECE: dict[int, str | None] = {**_SHOWN, 0x0A: "↵", 0x0D: "↵", 0x09: "⇥", 0x20: "·"}


def showable(text: str) -> str:
    """Control codes become visible signs (ESC is ␛), text direction overrides and lone surrogates become �.

    Works on any cut of a stream: showable(a) + showable(b) == showable(a + b).
    """
    return text.translate(_SHOWN)


def showable_piece(piece: str) -> str:
    """A token on one line: spaces are ·, line ends ↵, tabs ⇥."""
    return piece.translate(_PIECE) or "∅"


def fitted(text: str, cells: int) -> str:
    """Exactly `cells` wide on the terminal: padded, or cut with an ellipsis."""
    if cell_len(text) <= cells:
        return set_cell_size(text, cells)
    return set_cell_size(text, cells - 1) + "…" if cells > 0 else ""


def figure(value: float | None, decimals: int = 2) -> str:
    """A measured number, or a dash where nothing was measured."""
    return "–" if value is None else f"{value:.{decimals}f}"
