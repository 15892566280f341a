"""Keys of the person's own: the table `[keymap]` of `preferences.toml`, an action's id and its keys.

    [keymap]
    "chat.new" = "ctrl+k"
    "chat.panel" = ["ctrl+t", "f10"]

Which actions there are, and which keys a terminal has, the screen knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from medusa_chat.settings import toml_file
from medusa_chat.settings.preferences import preferences_file

_TABLE = "keymap"


@dataclass(frozen=True, slots=True)
class Keymap:
    """As written; an id with a wrong value is left out and told."""

    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the id of an action."""
    lines: Mapping[str, int] = field(default_factory=dict)
    """Where in the file each id stands, counted from 1, as far as it was found."""
    problems: tuple[str, ...] = ()
    """Plain sentences."""
    file: Path = field(default_factory=Path)

    def place(self, id: str) -> str:
        """ "FILE, line 3", for messages."""
        return f"{self.file}, line {self.lines[id]}" if id in self.lines else f"{self.file}"


def read_keymap() -> Keymap:
    """
    Raises:
        MedusaError: the file cannot be read or is not TOML.
    """
    file = preferences_file()
    text = toml_file.text_of(file)
    table = toml_file.parsed(file, text).get(_TABLE, {})
    if not isinstance(table, dict):
        return Keymap(problems=(f"In {file} keymap must be a table, written [{_TABLE}].",), file=file)
    flat = _flattened(table)
    keymap = Keymap({}, _lines(text, flat), (), file)
    keys: dict[str, tuple[str, ...]] = {}
    problems = []
    for id, value in flat.items():
        wanted = _keys(value)
        if wanted:
            keys[id] = wanted
        else:
            problems.append(f'{keymap.place(id)}: {id} must be a key in quotes, as "ctrl+k", or a list of them.')
    return Keymap(keys, keymap.lines, tuple(problems), file)


def _flattened(table: Mapping[str, object], before: str = "") -> dict[str, object]:
    """chat.new without quotes is a table in TOML, and means the same."""
    flat: dict[str, object] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            flat |= _flattened(value, f"{before}{key}.")
        else:
            flat[before + key] = value
    return flat


def _keys(value: object) -> tuple[str, ...]:
    """Empty where the value names no keys."""
    listed = value if isinstance(value, list) else [value]
    texts = [key for key in listed if isinstance(key, str)]
    if len(texts) < len(listed):
        return ()
    keys = [part.strip() if len(part) > 1 else part for key in texts for part in _split(key)]
    return tuple(keys) if all(keys) else ()


def _split(keys: str) -> list[str]:
    """At commas; a comma alone is a key."""
    return [keys] if keys == "," else keys.split(",")


def _lines(text: str, ids: Mapping[str, object]) -> dict[str, int]:
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        name = re.sub(r"[\"'\s]", "", line.partition("=")[0])
        for id in ids:
            if id not in found and "=" in line and name in (id, f"{_TABLE}.{id}"):
                found[id] = number
    return found
