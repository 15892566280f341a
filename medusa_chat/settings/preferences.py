"""What a person chose in the app, kept from one start to the next: `preferences.toml` in the config folder.

The file is theirs: everything in it but the one line that changes stays as it was, comments and unknown keys included.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import config_dir

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def preferences_file() -> Path:
    """The file may not exist yet; its folder does."""
    return config_dir() / "preferences.toml"


def preferred_theme() -> str | None:
    """The name of the theme chosen last, if any.

    Raises:
        MedusaError: the file cannot be read, is not TOML, or its theme is no text.
    """
    theme = _parsed(_read()).get("theme")
    if theme is not None and not isinstance(theme, str):
        raise MedusaError(f'In {preferences_file()} theme is {theme!r}; it must be a name in quotes, as "medusa-dark".')
    return theme


def prefer_theme(name: str) -> None:
    """Remember a theme.

    Raises:
        MedusaError: the file is not TOML, and is left alone; or it cannot be written.
    """
    old = _read()
    wanted = {**_parsed(old), "theme": name}
    new = _with_line(old, "theme", name)
    if _parsed(new) != wanted:
        raise MedusaError(
            f"Where {preferences_file()} sets theme was not found: write theme = {json.dumps(name)} there."
        )
    _write(new)


def _read() -> str:
    try:
        return preferences_file().read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"{preferences_file()} cannot be read ({error}): mend or delete it.") from error


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise MedusaError(
            f"{preferences_file()} is not readable as TOML ({error}): mend or delete it; until then nothing is remembered."
        ) from error


def _with_line(text: str, key: str, value: str) -> str:
    """The text with `key = "value"` among its top-level keys, which end where the first table begins."""
    line = f"{key} = {json.dumps(value)}\n"
    table = re.search(r"^[ \t]*\[", text, re.MULTILINE)
    top, tables = (text[: table.start()], text[table.start() :]) if table else (text, "")
    new, replaced = re.subn(rf"^[ \t]*{key}[ \t]*=.*(\n|\Z)", lambda _: line, top, count=1, flags=re.MULTILINE)
    if not replaced:
        new = f"{top}{'' if not top or top.endswith(chr(10)) else chr(10)}{line}"
    return new + tables


def _write(text: str) -> None:
    """All or nothing, also where two apps write at once; a link to the file stays a link."""
    path = preferences_file().resolve()
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError as error:
        raise MedusaError(
            f"{path} cannot be written ({error.strerror}): the choice holds for this run alone."
        ) from error
