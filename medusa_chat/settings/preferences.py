"""What a person chose in the app, kept from one start to the next: `preferences.toml` in the config folder.

    theme = "medusa-dark"

    [decoding]
    rule = "typical"

    [panels]
    medusa = false

The file is theirs: everything in it but what changes stays as it was, comments and unknown keys included. Options that
are as the program has them are not written.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.settings import toml_file
from medusa_chat.settings.option_tables import Options, read_options, table_of
from medusa_chat.settings.paths import config_dir

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


@dataclass(frozen=True, slots=True)
class Remembered:
    """Settings as they were when the app was last used."""

    decoding: Decoding = field(default_factory=Decoding)
    sampling: Sampling = field(default_factory=Sampling)
    limits: Limits = field(default_factory=Limits)
    panels: Mapping[str, bool] = field(default_factory=dict)
    """Which were opened or closed by the person; the others are shown where there is room."""


def preferences_file() -> Path:
    """The file may not exist yet; its folder does."""
    return config_dir() / "preferences.toml"


def preferred_theme() -> str | None:
    """The name of the theme chosen last, if any.

    Raises:
        MedusaError: the file cannot be read, is not TOML, or its theme is no text.
    """
    theme = toml_file.read(preferences_file()).get("theme")
    if theme is not None and not isinstance(theme, str):
        raise MedusaError(f'In {preferences_file()} theme is {theme!r}; it must be a name in quotes, as "medusa-dark".')
    return theme


def prefer_theme(name: str) -> None:
    """Remember a theme.

    Raises:
        MedusaError: the file is not TOML, and is left alone; or it cannot be written.
    """
    toml_file.change(preferences_file(), lambda document: document.update({"theme": name}))


def remembered() -> tuple[Remembered, tuple[str, ...]]:
    """What was remembered, and a plain sentence for each wrong key, in whose place stands what the program has.

    Raises:
        MedusaError: the file cannot be read or is not TOML.
    """
    tables = toml_file.read(preferences_file())
    decoding = _read(Decoding(), tables, "decoding")
    sampling = _read(Sampling(), tables, "sampling")
    limits = _read(Limits(), tables, "limits")
    panels, wrong_panels = _panels(tables.get("panels", {}))
    found = Remembered(decoding.options, sampling.options, limits.options, panels)
    return found, (*decoding.problems, *sampling.problems, *limits.problems, *wrong_panels)


def remember(wanted: Remembered) -> None:
    """
    Raises:
        MedusaError: the file is not TOML, and is left alone; or it cannot be written.
    """

    def edit(document: TOMLDocument) -> None:
        for name, options in (("decoding", wanted.decoding), ("sampling", wanted.sampling), ("limits", wanted.limits)):
            _fill(document, name, table_of(options), table_of(type(options)()))
        _fill(document, "panels", dict(wanted.panels), {})

    toml_file.change(preferences_file(), edit)


def _read(base: Options, tables: Mapping[str, Any], name: str) -> Any:
    return read_options(base, tables.get(name, {}), f"[{name}] of {preferences_file()}")


def _panels(table: Any) -> tuple[dict[str, bool], tuple[str, ...]]:
    where = f"[panels] of {preferences_file()}"
    if not isinstance(table, Mapping):
        return {}, (f"{where} is no table.",)
    wrong = [key for key, shown in table.items() if not isinstance(shown, bool)]
    problems = tuple(f"In {where} {key} is {table[key]!r}; it must be true or false, without quotes." for key in wrong)
    return {key: shown for key, shown in table.items() if key not in wrong}, problems


def _fill(document: TOMLDocument, name: str, values: dict[str, Any], defaults: dict[str, Any]) -> None:
    """Every value that is in the file already, or differs from the program's, is set."""
    present = document.get(name)
    table = present if isinstance(present, MutableMapping) else {}
    wanted = {key: value for key, value in values.items() if key in table or value != defaults.get(key)}
    if isinstance(present, MutableMapping):
        toml_file.update(present, wanted)
    elif wanted:
        document[name] = wanted
