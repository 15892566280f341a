"""TOML files that are a person's own: read with plain messages, changed without touching the rest, comments included."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from medusa_chat.engine.errors import MedusaError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def read(path: Path) -> dict[str, Any]:
    """What is in the file; nothing where there is none.

    Raises:
        MedusaError: it cannot be read or is not TOML.
    """
    return parsed(path, text_of(path))


def text_of(path: Path) -> str:
    """
    Raises:
        MedusaError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise MedusaError(f"{path} cannot be read ({error}): mend or delete it.") from error


def parsed(path: Path, text: str) -> dict[str, Any]:
    """
    Raises:
        MedusaError: the text, which is that of the file, is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise MedusaError(
            f"{path} is not readable as TOML ({reason}): mend or delete it; until then nothing in it counts."
        ) from error


def change(path: Path, edit: Callable[[TOMLDocument], None]) -> None:
    """Have `edit` change the document. A file that is not TOML is left alone.

    Raises:
        MedusaError: the file is not TOML, or it cannot be written.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    text = text_of(path)
    parsed(path, text)
    try:
        document = tomlkit.parse(text)
        edit(document)
        new = tomlkit.dumps(document)
        tomllib.loads(new)
    except (TOMLKitError, tomllib.TOMLDecodeError) as error:
        raise MedusaError(
            f"{path} is written in a way that cannot be changed here ({error}): edit it by hand."
        ) from error
    if new != text:
        write(path, new)


def write(path: Path, text: str) -> None:
    """All or nothing, also where two programs write at once; a link to the file stays a link.

    Raises:
        MedusaError: it cannot be written.
    """
    path = path.resolve()
    made: str | None = None
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            made = file.name
            file.write(text)
        os.replace(made, path)
    except OSError as error:
        if made is not None:
            with suppress(OSError):
                os.unlink(made)
        raise MedusaError(
            f"{path} cannot be written ({error.strerror}): the choice holds for this run alone."
        ) from error


def update(table: MutableMapping[str, Any], values: Mapping[str, Any]) -> None:
    """Set values in a table of a document, tables within it value by value, so that comments beside others stay."""
    body = _body(table)
    spared = list(takewhile(lambda entry: entry[0] is None, reversed(body)))
    del body[len(body) - len(spared) :]
    for key, value in values.items():
        present = table.get(key)
        if isinstance(value, Mapping) and isinstance(present, MutableMapping):
            update(present, value)
        elif present != value:
            table[key] = value
    body += reversed(spared)


def _body(table: object) -> list[tuple[Any, Any]]:
    """Lines of a table; what stands at its end without a key are comments on what comes below it."""
    from tomlkit.items import Table

    return table.value.body if isinstance(table, Table) else []
