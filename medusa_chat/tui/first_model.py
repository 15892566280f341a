"""Which model the chat opens with where none is named: the one that was loaded last in the app, as long as it is here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from medusa_chat.catalog import DEFAULT_MODEL, find
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import toml_file
from medusa_chat.settings.preferences import preferences_file
from medusa_chat.tui.own_precisions import keep_precision

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


def first_model() -> tuple[str, str | None]:
    """The name of a model, and one plain sentence where it is another than the person chose."""
    try:
        name = toml_file.read(preferences_file()).get("model")
    except MedusaError:
        return DEFAULT_MODEL, None  # the theme is in the same file, and says so
    if name is None or name == DEFAULT_MODEL:
        return DEFAULT_MODEL, None
    if not isinstance(name, str):
        return (
            DEFAULT_MODEL,
            f'In {preferences_file()} model is {name!r}; it must be a name in quotes, as "{DEFAULT_MODEL}".',
        )
    try:
        here = find(name).is_here()
    except MedusaError:
        here = False
    if here:
        return name, None
    return DEFAULT_MODEL, f"The model chosen last, {name}, is no longer on this machine, so {DEFAULT_MODEL} is loaded."


def prefer_model(name: str, precision: str) -> None:
    """Remember a model for the next start, and what it was to be kept in (a name of `--quantize`) for whenever it is
    loaded.

    Raises:
        MedusaError: the file is not TOML, and is left alone; or it cannot be written.
    """

    def edit(document: TOMLDocument) -> None:
        document.update({"model": name})
        keep_precision(document, name, precision)

    toml_file.change(preferences_file(), edit)
