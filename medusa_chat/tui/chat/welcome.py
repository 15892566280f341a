"""What an empty conversation says: what this is, what was loaded, what to press."""

from __future__ import annotations

from textual.content import Content

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Loaded
from medusa_chat.tui.chat.fitted_line import FittedLine
from medusa_chat.tui.text import MUTED

_KEYS = (
    ("enter", "asks; esc stops"),
    ("alt+↑", "edit, regenerate, copy"),
    ("ctrl+g", "inspect step by step"),
    ("ctrl+r", "race decoders"),
    ("ctrl+s", "settings, also meanwhile"),
    ("F10", "how each token was won"),
    ("F11", "models"),
    ("F1", "every key and word"),
)
_FIRST = ("enter", "alt+↑", "F1")
_FIRST_BELOW = 40
"""Cells below which only these are named: there are hardly more rows, either."""
_KEY_CELLS = 8
_COLUMN_CELLS = 36


class Welcome(FittedLine):
    """The first lines of every conversation."""

    def __init__(self, loaded: Loaded | None) -> None:
        super().__init__(classes="welcome")
        self.tell(loaded)

    def tell(self, loaded: Loaded | None) -> None:
        self.show(lambda width: _welcome(loaded, width))


def _welcome(loaded: Loaded | None, width: int) -> Content:
    notes = loaded.notes if loaded is not None else ()
    return Content("\n").join(
        [
            Content.styled("Medusa Chat", "bold $primary"),
            _facts(loaded),
            *(Content.styled(f"! {harmless(note)}", "$warning") for note in notes),
            Content(""),
            *_keys(width),
        ]
    )


def _keys(width: int) -> list[Content]:
    """In two columns where they fit side by side: what to do at the left, what to look at in the right one."""
    named = [(key, what) for key, what in _KEYS if width >= _FIRST_BELOW or key in _FIRST]
    cells = [Content.assemble((f"{key:<{_KEY_CELLS}}", "bold $accent"), (what, MUTED)) for key, what in named]
    if width < 2 * _COLUMN_CELLS - 4:
        return cells
    half = len(cells) // 2
    return [
        Content.assemble(left.pad_right(_COLUMN_CELLS - left.cell_length), right)
        for left, right in zip(cells[:half], cells[half:], strict=True)
    ]


def _facts(loaded: Loaded | None) -> Content:
    if loaded is None:
        return Content.styled("The model is being loaded; you can type already.", MUTED)
    name = Content.styled(harmless(loaded.model), "$foreground")
    facts = f"  {harmless(loaded.precision)} · {harmless(loaded.device)}"
    if loaded.heads == 0 and not any("heads" in note for note in loaded.notes):
        off = Content.styled("\nMedusa off: no heads found. Answers are decoded plainly.", "bold $warning")
        return Content.assemble(name, (facts, MUTED), off)
    return Content.assemble(name, (facts, MUTED))
