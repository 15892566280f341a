"""Themes are data: one TOML file each, from the program's own folder and the person's."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.theme import Theme

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import bundled_dir, config_dir

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DARK = "medusa-dark"
LIGHT = "medusa-light"

COLORS = (
    "primary",
    "secondary",
    "accent",
    "foreground",
    "background",
    "surface",
    "panel",
    "success",
    "warning",
    "error",
)
_KEYS = {"name", "dark", "colors", "variables"}


@dataclass(slots=True)
class Themes:
    """What could be read, and a sentence for each file that could not."""

    found: dict[str, Theme] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def user_folder() -> Path:
    return config_dir() / "themes"


def load_themes(*folders: Path) -> Themes:
    """All themes of the folders (by default the program's own, then the person's); a later name replaces an earlier one."""
    themes = Themes()
    for folder in folders or (bundled_dir("themes"), user_folder()):
        for path in sorted(folder.glob("*.toml")):
            _read_into(themes, path)
    return themes


def _read_into(themes: Themes, path: Path) -> None:
    try:
        theme = read_theme(path)
    except MedusaError as error:
        themes.problems.append(f"The theme file {path.name} was left out: {error}")
    else:
        themes.found[theme.name] = theme


def read_theme(path: Path) -> Theme:
    """One validated theme.

    Raises:
        MedusaError: it cannot be read, or a key, colour or name in it is missing or wrong.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MedusaError(f"it is not readable as TOML ({error}).") from error
    if unknown := set(data) - _KEYS:
        raise MedusaError(f"it has no use for {', '.join(sorted(unknown))}; it may hold {', '.join(sorted(_KEYS))}.")
    name, dark = data.get("name", path.stem), data.get("dark", True)
    if not isinstance(name, str) or not name or not isinstance(dark, bool):
        raise MedusaError("name must be text and dark true or false.")
    colors = _colors(data.get("colors"))
    return Theme(
        name=name,
        dark=dark,
        variables=_variables(data.get("variables", {})),
        primary=colors["primary"],
        secondary=colors["secondary"],
        accent=colors["accent"],
        foreground=colors["foreground"],
        background=colors["background"],
        surface=colors["surface"],
        panel=colors["panel"],
        success=colors["success"],
        warning=colors["warning"],
        error=colors["error"],
    )


def _colors(table: Any) -> dict[str, str]:
    if not isinstance(table, dict) or (missing := set(COLORS) - set(table)):
        raise MedusaError(f"[colors] must give {', '.join(sorted(missing) if isinstance(table, dict) else COLORS)}.")
    if unknown := set(table) - set(COLORS):
        raise MedusaError(f"[colors] has no use for {', '.join(sorted(unknown))}.")
    for key, value in table.items():
        _check_color(key, value)
    return dict(table)


def _variables(table: Any) -> dict[str, str]:
    if not isinstance(table, dict):
        raise MedusaError("[variables] must be a table of colours.")
    for key, value in table.items():
        _check_color(key, value.split()[0] if isinstance(value, str) and value.strip() else value)
    return dict(table)


def _check_color(key: str, value: object) -> None:
    if not isinstance(value, str):
        raise MedusaError(f"{key} must be a colour in quotes.")
    try:
        Color.parse(value)
    except ColorParseError as error:
        raise MedusaError(f"{key} is {value!r}, which is no colour.") from error
