"""The file of a person's own presets: one table each, which a person may also write by hand.

    [night]
    description = "for stories"
    decoding = { rule = "typical", epsilon = 0.05 }
    sampling = { temperature = 0.9 }

What a preset does not give is as the program has it. Comments and other entries stay when one is written or removed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Sampling
from medusa_chat.settings import toml_file
from medusa_chat.settings.option_tables import read_options, table_of
from medusa_chat.settings.paths import config_dir

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

_NAME = re.compile(r"[^\W_][\w -]{0,31}")
_KEYS = ("description", "decoding", "sampling")


@dataclass(frozen=True, slots=True)
class Kept:
    description: str
    decoding: Decoding
    sampling: Sampling


@dataclass(frozen=True, slots=True)
class Own:
    presets: dict[str, Kept] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def presets_file() -> Path:
    """The file may not exist yet; its folder does."""
    return config_dir() / "presets.toml"


def check_name(name: str) -> None:
    """
    Raises:
        MedusaError: it cannot be a preset's name.
    """
    if not _NAME.fullmatch(name):
        raise MedusaError(
            f"{name!r} cannot name a preset: at most 32 letters, digits, spaces, - and _, a letter or digit first."
        )


def read() -> Own:
    """Never raises: what is wrong is left out and told."""
    try:
        tables = toml_file.read(presets_file())
    except MedusaError as error:
        return Own(problems=(str(error),))
    presets, problems = {}, []
    for name, table in tables.items():
        kept = _read(name, table)
        if isinstance(kept, str):
            problems.append(kept)
        else:
            presets[name] = kept
    return Own(presets, tuple(problems))


def write(name: str, kept: Kept) -> None:
    """
    Raises:
        MedusaError: the name cannot be one; the file is broken or cannot be written.
    """
    check_name(name)

    def edit(document: TOMLDocument) -> None:
        values = {
            "description": kept.description,
            "decoding": table_of(kept.decoding),
            "sampling": table_of(kept.sampling),
        }
        present = document.get(name)
        if isinstance(present, MutableMapping):
            toml_file.update(present, values)
        else:
            document[name] = values

    toml_file.change(presets_file(), edit)


def remove(name: str) -> None:
    """
    Raises:
        MedusaError: there is none of that name, or the file is broken or cannot be written.
    """
    path = presets_file()
    text = toml_file.text_of(path)
    wanted = toml_file.parsed(path, text)
    if wanted.pop(name, None) is None:
        raise MedusaError(f"There is no preset {name} in {path}.")
    shorter = _without_tables(text, name)
    if _says(path, shorter, wanted):
        toml_file.write(path, shorter)
    else:
        toml_file.change(path, lambda document: document.pop(name))


def _says(path: Path, text: str, wanted: dict[str, Any]) -> bool:
    """A line inside a longer text may look like the head of a table, so what was cut is read again."""
    try:
        return toml_file.parsed(path, text) == wanted
    except MedusaError:
        return False


def _without_tables(text: str, name: str) -> str:
    """The text without the tables of that name. Comments right above the next table belong to that one and stay."""
    header = re.compile(rf"""[ \t]*\[[ \t]*(?P<quote>["']?){re.escape(name)}(?P=quote)[ \t]*[.\]]""")
    kept: list[str] = []
    spared: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            kept += spared
            spared = []
            inside = header.match(line) is not None
        if not inside:
            kept.append(line)
        elif line.lstrip().startswith("#") or (spared and not line.strip()):
            spared.append(line)
        else:
            spared = []
    return "".join(kept + spared)


def _read(name: str, table: Any) -> Kept | str:
    """A preset, or what is wrong with it."""
    try:
        return _kept(name, table)
    except MedusaError as error:
        return f"{error} The preset is left out."


def _kept(name: str, table: Any) -> Kept:
    where = f"[{name}] of {presets_file()}"
    try:
        check_name(name)
    except MedusaError as error:
        raise MedusaError(f"In {presets_file()} {error}") from error
    if not isinstance(table, Mapping):
        raise MedusaError(f"{where} is no table.")
    if unknown := next((key for key in table if key not in _KEYS), None):
        raise MedusaError(f"In {where} there is no {unknown}; it may hold {', '.join(_KEYS)}.")
    description = table.get("description", "")
    if not isinstance(description, str):
        raise MedusaError(f"In {where} description is {description!r}; it must be a text in quotes.")
    decoding = read_options(Decoding(), table.get("decoding", {}), f"the decoding of {where}")
    sampling = read_options(Sampling(), table.get("sampling", {}), f"the sampling of {where}")
    for problem in (*decoding.problems, *sampling.problems):
        raise MedusaError(problem)
    return Kept(" ".join(description.split()), decoding.options, sampling.options)
