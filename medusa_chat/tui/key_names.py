"""Keys by name: which there are, and how they are written for a person."""

from __future__ import annotations

import re

from textual.keys import REPLACED_KEYS, Keys, key_to_character

_MODIFIERS = frozenset({"ctrl", "shift", "alt", "super", "hyper", "meta"})
_NAMED = frozenset(key.value for key in Keys) | {f"f{number}" for number in range(1, 25)} | {"plus", "minus", "space"}
_SPELLED = {
    "escape": "esc", "pageup": "PgUp", "pagedown": "PgDn", "up": "↑", "down": "↓", "left": "←", "right": "→",
    "delete": "del", "backspace": "⌫", "space": "space",
}  # fmt: skip


def is_key(key: str) -> bool:
    """Whether Textual has a key of this name: "ctrl+k", "f5", "?", "question_mark", "shift+enter"."""
    if len(key) == 1:
        return key.isprintable() and not key.isspace()
    *modifiers, name = key.split("+")
    if not set(modifiers) <= _MODIFIERS or len(set(modifiers)) < len(modifiers):
        return False
    return name in _NAMED or (len(name) == 1 and name.isalnum()) or (not modifiers and _character(name) is not None)


def spelled(keys: str) -> str:
    """The first two of a comma-separated list, as on a keyboard."""
    return " ".join(_one(key.strip()) for key in keys.split(",")[:2])


def _one(key: str) -> str:
    *modifiers, name = key.split("+") if len(key) > 1 else [key]
    character = _character(name)
    if re.fullmatch(r"f\d+", name):
        name = name.upper()
    elif name in _SPELLED:
        name = _SPELLED[name]
    elif character is not None and character.isprintable():
        name = character
    return "+".join([*modifiers, name])


def _character(name: str) -> str | None:
    """What the key writes, if it writes one."""
    return key_to_character(REPLACED_KEYS.get(name, name))
