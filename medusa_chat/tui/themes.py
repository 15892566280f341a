"""Themes are data, one TOML file each; a file a person wrote may be wrong, and then one sentence says where."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from textual.color import Color, ColorParseError
from textual.design import ColorSystem
from textual.theme import Theme

from medusa_chat.engine.errors import MedusaError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DARK = "medusa-dark"
SIXTEEN = "ansi-16"
"""For terminals that know no other colours."""

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
MUTED_SHARE, FAINT_SHARE = 62, 34
"""How much of the foreground's colour lesser words and mere lines take, in percent, unless a theme says otherwise."""

_KEYS = ("name", "dark", "ansi", "colors", "variables")
TOKEN_HUES = {
    "root": "foreground",
    "head 1": "primary",
    "head 2": "accent",
    "head 3": "secondary",
    "head 4": "warning",
    "head 5+": "error",
    "lookup": "success",
    "recycle": "foreground",
    "other": "foreground",
}
"""Which of a theme's colours the tokens of an answer take by how they were won, unless the theme says otherwise."""


def token_variable(kind: str) -> str:
    """What a theme calls the colour of such tokens: `token-head1` is that of head 1."""
    return f"token-{kind.replace(' ', '').rstrip('+')}"


_OWN_VARIABLES = frozenset({"muted", "faint", *map(token_variable, TOKEN_HUES)})
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
_SHADED = re.compile(r"(?P<color>.+?)(?:\s+(?P<percent>\d{1,3})%)?")
_STYLES = frozenset({"none", "not", "bold", "dim", "italic", "underline", "reverse", "strike"})
_MOST_BYTES = 64_000


def read_theme(path: Path) -> Theme:
    """One validated theme.

    Raises:
        MedusaError: it cannot be read, or a key, colour or name in it is missing or wrong; the sentence names the key
            and what is allowed there, whoever asked adds the file.
    """
    data = _toml(path)
    if unknown := sorted(set(data) - set(_KEYS)):
        raise MedusaError(f"it has no use for {unknown[0]}; it may hold {', '.join(_KEYS)}.")
    name, dark, ansi = data.get("name", path.stem), data.get("dark", True), data.get("ansi", False)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise MedusaError(f"name is {name!r}; it must be at most 32 letters, digits, - and _, a letter first.")
    if not isinstance(dark, bool) or not isinstance(ansi, bool):
        raise MedusaError(f"{'ansi' if isinstance(dark, bool) else 'dark'} must be true or false, without quotes.")
    colors = _colors(data.get("colors"), ansi)
    return Theme(
        name=name,
        dark=dark,
        ansi=ansi,
        variables=_variables(data.get("variables", {}), colors, ansi),
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


def shades(foreground: str) -> dict[str, str]:
    """The program's own variables, as a theme of which only this colour is known gets them."""
    plain = {token_variable(kind): foreground for kind in TOKEN_HUES}
    return {"muted": _shade(foreground, MUTED_SHARE), "faint": _shade(foreground, FAINT_SHARE), **plain}


def _token_hues(colors: Mapping[str, str]) -> dict[str, str]:
    return {token_variable(kind): colors[color] for kind, color in TOKEN_HUES.items()}


def _shade(color: str, percent: int) -> str:
    """One word: styles of `Content` lose what follows the first word of a variable."""
    return Color.parse(color).multiply_alpha(percent / 100).hex


def _toml(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise MedusaError(f"it is longer than the {_MOST_BYTES // 1000} kB a theme may have.")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MedusaError(f"it is not readable as TOML ({error}).") from error


def _colors(table: Any, ansi: bool) -> dict[str, str]:
    if not isinstance(table, dict):
        raise MedusaError(f"it needs a table [colors] with {', '.join(COLORS)}.")
    if missing := [key for key in COLORS if key not in table]:
        raise MedusaError(f"[colors] must give {', '.join(missing)}.")
    if unknown := sorted(set(table) - set(COLORS)):
        raise MedusaError(f"[colors] has no use for {unknown[0]}; it holds {', '.join(COLORS)}.")
    for key, value in table.items():
        _check_color(f"[colors] {key}", value, ansi)
    return dict(table)


def _variables(table: Any, colors: dict[str, str], ansi: bool) -> dict[str, str]:
    if not isinstance(table, dict):
        raise MedusaError("[variables] must be a table of colours.")
    variables = shades(colors["foreground"]) | _token_hues(colors)
    for key, value in table.items():
        if key not in _known_variables():
            close = get_close_matches(key, _known_variables(), n=1)
            raise MedusaError(f"[variables] has no use for {key}{f'; did you mean {close[0]}?' if close else '.'}")
        if key.endswith("-style"):
            _check_style(key, value)
            variables[key] = value
        else:
            shaded = _SHADED.fullmatch(value) if isinstance(value, str) else None
            _check_color(f"[variables] {key}", shaded["color"] if shaded else value, ansi)
            variables[key] = _shade(shaded["color"], int(shaded["percent"])) if shaded and shaded["percent"] else value
    return variables


@cache
def _known_variables() -> frozenset[str]:
    plain, ansi = ColorSystem("#808080"), ColorSystem("ansi_blue", ansi=True)
    return _OWN_VARIABLES | frozenset(plain.generate()) | frozenset(ansi.generate())


def _check_style(key: str, value: object) -> None:
    if not isinstance(value, str) or not value.split() or not _STYLES.issuperset(value.split()):
        raise MedusaError(f"[variables] {key} is {value!r}; allowed are the words {', '.join(sorted(_STYLES))}.")


def _check_color(key: str, value: object, ansi: bool) -> None:
    """Colours of the terminal's own palette cannot be mixed with others: nobody knows how they look."""
    wanted = 'a palette colour such as "ansi_cyan"' if ansi else 'a colour such as "#7fc8ad" or "teal"'
    try:
        color = Color.parse(value) if isinstance(value, str) else None
    except ColorParseError:
        color = None
    if color is None or color.auto or (color.ansi is not None) != (ansi and color.a > 0):
        raise MedusaError(f"{key} is {value!r}, where {wanted} is allowed.")
