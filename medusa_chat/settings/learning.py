"""Whether heads learn from use, and how much of the machine that may take: `[learning]` in `preferences.toml`.

[learning]
enabled = true
share = 0.5
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import toml_file
from medusa_chat.settings.preferences import preferences_file

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


@dataclass(frozen=True, slots=True)
class Learning:
    """Off unless the person switches it on."""

    enabled: bool = False
    share: float = 0.5
    """Of the processor, 0..1."""

    def __post_init__(self) -> None:
        if not 0.05 <= self.share <= 1.0:
            raise MedusaError(f"share is {self.share}; it must be between 0.05 and 1.")


def learning() -> Learning:
    """
    Raises:
        MedusaError: the file cannot be read, or what it says of learning is wrong; the sentence names it.
    """
    table = toml_file.read(preferences_file()).get("learning", {})
    where = f"[learning] of {preferences_file()}"
    if not isinstance(table, Mapping):
        raise MedusaError(f"{where} is no table: delete it, or write enabled = true below it.")
    enabled, share = table.get("enabled", False), table.get("share", 0.5)
    if not isinstance(enabled, bool):
        raise MedusaError(f"In {where} enabled is {enabled!r}; it must be true or false, without quotes.")
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise MedusaError(f"In {where} share is {share!r}; it must be a number between 0.05 and 1.")
    try:
        return Learning(enabled, float(share))
    except MedusaError as error:
        raise MedusaError(f"In {where} {error}") from error


def prefer_learning(wanted: Learning) -> None:
    """
    Raises:
        MedusaError: the file is not TOML, and is left alone; or it cannot be written.
    """

    def edit(document: TOMLDocument) -> None:
        values = {"enabled": wanted.enabled, "share": wanted.share}
        present = document.get("learning")
        if isinstance(present, MutableMapping):
            toml_file.update(present, values)
        else:
            document["learning"] = values

    toml_file.change(preferences_file(), edit)
