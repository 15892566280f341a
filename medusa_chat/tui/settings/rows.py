"""The lines of the settings list: headings, presets, fields; and which of them a search leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from medusa_chat.settings.presets import Preset
from medusa_chat.tui.settings.fields import FIELDS, Field
from medusa_chat.tui.settings.learning_rows import LEARNING_ROWS, LearningRow


@dataclass(frozen=True, slots=True)
class Heading:
    title: str


@dataclass(frozen=True, slots=True)
class SaveRow:
    """Where the present settings get a name."""


Choosable = Preset | SaveRow | Field | LearningRow
Row = Heading | Choosable


def rows_for(presets: Sequence[Preset], search: str = "") -> list[Row]:
    """All rows that have every word of the search in name, description or heading."""
    rows: list[Row] = []
    for title, members in _groups(presets):
        found = [row for row in members if _has(row, title, search.casefold().split())]
        if found:
            rows += [Heading(title), *found]
    return rows


def _groups(presets: Sequence[Preset]) -> Iterator[tuple[str, Sequence[Choosable]]]:
    yield "Preset", (*presets, SaveRow())
    for group in dict.fromkeys(field.group for field in FIELDS):
        yield group, [field for field in FIELDS if field.group == group]
    yield "Learning from use", LEARNING_ROWS


def _has(row: Choosable, title: str, words: Sequence[str]) -> bool:
    if isinstance(row, SaveRow):
        text = "save these settings"
    elif isinstance(row, Preset):
        text = f"{row.name} {row.description}"
    else:
        text = f"{row.label} {row.meaning}"
    text = f"{title} {text}".casefold()
    return all(word in text for word in words)


def same(row: Row, before: Row | None) -> bool:
    """A preset is the same by name, also with other values."""
    if isinstance(row, Preset) and isinstance(before, Preset):
        return row.name == before.name
    return row is before or row == before


def steps(row: Choosable) -> bool:
    """Arrows move its value."""
    return row.scale.steps if isinstance(row, Field) else isinstance(row, LearningRow) and row.steps
