"""How a row of the settings list looks. What is said by colour is said by a sign too: a dot where a value differs from
the program's, brackets where it does not count."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Loaded
from medusa_chat.settings.presets import Preset
from medusa_chat.tui.choices import Choices, in_force
from medusa_chat.tui.knobs import key_of
from medusa_chat.tui.learning.knowledge import NOTHING, Learnt
from medusa_chat.tui.settings.fields import Field
from medusa_chat.tui.settings.learning_rows import LearningRow
from medusa_chat.tui.settings.rows import Heading, Row, SaveRow, steps
from medusa_chat.tui.text import FAINT, MUTED, fitted

MARK_CELLS = 2
_KEYS_FROM = 44
"""Narrower lists show no keys and shorter labels, so that values, and that a rule is lossy, are read whole."""
_KEY_CELLS = 4
_NAMES_FROM = 37
"""Narrower lists cut the longest names, for the same reason."""


@dataclass(frozen=True, slots=True)
class State:
    """All that rows depend on."""

    choices: Choices
    loaded: Loaded | None
    learnt: Learnt = NOTHING


def drawn(row: Row, state: State, width: int, at_cursor: bool) -> Content:
    """One line, exactly `width` cells."""
    if isinstance(row, Heading):
        return Content.styled(fitted(row.title, width), "bold $secondary")
    if isinstance(row, SaveRow):
        line = Content.assemble(("+ ", "$accent"), (fitted("save these settings as …", width - MARK_CELLS), MUTED))
    elif isinstance(row, Preset):
        line = _preset(row, state, width)
    elif isinstance(row, LearningRow):
        line = _learning(row, state, width)
    else:
        line = _field(row, state, width)
    if at_cursor:
        return Content.styled(
            line.plain, "$block-cursor-text-style $block-cursor-foreground on $block-cursor-background"
        )
    return line


def value_at(width: int) -> int:
    """The cell of the arrow before a value; the value follows after a space."""
    return MARK_CELLS + (19 if width >= _KEYS_FROM else 15 if width >= _NAMES_FROM else 14)


def value_cells(row: Field | LearningRow, state: State, width: int) -> int:
    """How many cells the value takes between its arrows."""
    return min(cell_len(_value(row, state)), _room(width))


def arrow_at(row: Row, state: State, width: int, x: int) -> int:
    """Which way an arrow at that cell points; 0 where there is none. The space beside it counts too."""
    if not isinstance(row, Field | LearningRow) or not steps(row):
        return 0
    left = value_at(width)
    right = left + 2 + value_cells(row, state, width)
    return -1 if x in (left, left + 1) else 1 if x in (right, right + 1) else 0


def _room(width: int) -> int:
    return max(1, width - value_at(width) - len("‹  ›") - _key_cells(width))


def _key_cells(width: int) -> int:
    return _KEY_CELLS if width >= _KEYS_FROM else 0


def _value(row: Field | LearningRow, state: State) -> str:
    if isinstance(row, LearningRow):
        value = row.value(state.learnt)
        return f"({value})" if row.idle(state.learnt) else value
    value = harmless(row.show(state.choices, state.loaded))
    return f"({value})" if row.idle(state.choices, state.loaded) else value


def _field(row: Field, state: State, width: int) -> Content:
    changed, idle = row.changed(state.choices), bool(row.idle(state.choices, state.loaded))
    lossy = row.id == "decoding.rule" and state.choices.decoding.lossy
    style = "bold $warning" if lossy else MUTED if idle else "bold $foreground" if changed else "$foreground"
    value = fitted(_value(row, state), value_cells(row, state, width))
    before, after = ("‹ ", " ›") if row.scale.steps else ("  ", "  ")
    key = (key_of(row) or "").upper() if _key_cells(width) else ""
    rest = _room(width) - cell_len(value)
    return Content.assemble(
        ("• " if changed else "  ", "bold $accent"),
        _label(row, width).stylize(MUTED if idle else "$foreground"),
        (before, FAINT),
        (value, style),
        (after + " " * rest, FAINT),
        (f"{key:>{_key_cells(width)}}", FAINT if idle else MUTED),
    )


def _label(row: Field | LearningRow, width: int) -> Content:
    """Up to the value, with a space before it."""
    return Content(fitted(row.label, value_at(width) - MARK_CELLS - 1) + " ")


def _learning(row: LearningRow, state: State, width: int) -> Content:
    changed, idle = row.changed(state.learnt), bool(row.idle(state.learnt))
    before, after = ("‹ ", " ›") if row.steps else ("  ", "  ")
    value = fitted(_value(row, state), value_cells(row, state, width))
    return Content.assemble(
        ("• " if changed else "  ", "bold $accent"),
        _label(row, width).stylize(MUTED if idle else "$foreground"),
        (before, FAINT),
        (value, MUTED if idle else "bold $foreground" if changed else "$foreground"),
        (after + " " * (_room(width) - cell_len(value) + _key_cells(width)), FAINT),
    )


def _preset(row: Preset, state: State, width: int) -> Content:
    now = in_force(row, state.choices, state.loaded)
    kind, style = ("lossy", "bold $warning") if row.lossy else ("lossless", MUTED)
    name = fitted(row.name, max(1, width - MARK_CELLS - len("lossless") - 2))
    return Content.assemble(
        ("✓ " if now else "  ", "bold $accent"),
        (name, "bold $foreground" if now else "$foreground"),
        ("  ", ""),
        (f"{kind:>8}", style),
    )
