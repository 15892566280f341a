"""How a row of the settings list looks, and what is said of the one under the cursor. What is said by colour is said by
a sign too: a dot where a value differs from the program's, brackets where it does not count."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from textual.content import Content

from medusa_chat.engine.text.harmless import harmless
from medusa_chat.host.messages import Loaded
from medusa_chat.settings.presets import Preset
from medusa_chat.tui.choices import Choices, described, in_force, with_preset
from medusa_chat.tui.knobs import key_of
from medusa_chat.tui.learning.knowledge import NOTHING, Learnt
from medusa_chat.tui.settings.fields import Field
from medusa_chat.tui.settings.learning_rows import LearningRow
from medusa_chat.tui.settings.rows import Choosable, Heading, Row, SaveRow, steps
from medusa_chat.tui.text import FAINT, MUTED, fitted

MARK_CELLS = 2
_KEYS_FROM = 44
"""Narrower lists show no keys and shorter labels, so that values, and that a rule is lossy, are read whole."""
_KEY_CELLS = 4


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
    return MARK_CELLS + (19 if width >= _KEYS_FROM else 14)


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
        (fitted(row.label, value_at(width) - MARK_CELLS), MUTED if idle else "$foreground"),
        (before, FAINT),
        (value, style),
        (after + " " * rest, FAINT),
        (f"{key:>{_key_cells(width)}}", FAINT if idle else MUTED),
    )


def _learning(row: LearningRow, state: State, width: int) -> Content:
    changed, idle = row.changed(state.learnt), bool(row.idle(state.learnt))
    before, after = ("‹ ", " ›") if row.steps else ("  ", "  ")
    value = fitted(_value(row, state), value_cells(row, state, width))
    return Content.assemble(
        ("• " if changed else "  ", "bold $accent"),
        (fitted(row.label, value_at(width) - MARK_CELLS), MUTED if idle else "$foreground"),
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


def explained(row: Choosable | None, state: State, problem: str) -> Content:
    """What is said below the list; a problem with what was typed comes first."""
    if row is None:
        return Content.styled("Nothing has these words; Esc shows all settings again.", MUTED)
    if problem:
        return Content.assemble(("✗ ", "bold $error"), (harmless(problem), "$foreground"))
    if isinstance(row, SaveRow):
        return Content.assemble(("A preset of your own: ", MUTED), (described(state.choices), "$foreground"))
    if isinstance(row, LearningRow):
        return _of_learning(row, state.learnt)
    return _of_preset(row, state) if isinstance(row, Preset) else _of_field(row, state)


def _of_learning(row: LearningRow, learnt: Learnt) -> Content:
    reason = row.idle(learnt)
    told = Content(harmless(row.told(learnt)))
    return Content.assemble((f"( ) {harmless(reason)}\n", "$foreground"), told.stylize(MUTED)) if reason else told


def _of_preset(row: Preset, state: State) -> Content:
    keys = "enter applies it" + ("; d twice deletes it" if row.own else "")
    settings = described(with_preset(state.choices, row))
    return Content.assemble(
        (f"{harmless(row.description) or settings}\n", "$foreground"),
        (f"{settings if row.description else ''}\n" if row.description else "", MUTED),
        (keys, MUTED),
    )


def _of_field(row: Field, state: State) -> Content:
    reason = row.idle(state.choices, state.loaded)
    lossy = row.id == "decoding.rule" and state.choices.decoding.lossy
    warning = "! lossy: the answers may differ from what the model alone would say. " if lossy else ""
    default = f" Default: {row.show(Choices(), state.loaded)}, 0 sets it." if row.changed(state.choices) else ""
    return Content.assemble(
        (warning, "bold $warning"),
        (f"( ) {reason}\n" if reason else "", "$foreground"),
        (f"{row.meaning}.", MUTED if reason else "$foreground"),
        (default, MUTED),
    )
