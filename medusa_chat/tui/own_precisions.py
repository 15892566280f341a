"""What each model's weights are kept in: as the person chose it last on the Models screen, else "auto".

    [precisions]
    smollm2-135m-instruct = "int8"

in `preferences.toml`, beside the model chosen last.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from medusa_chat.catalog.fits import PRECISIONS
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import toml_file
from medusa_chat.settings.preferences import preferences_file

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

AUTO = "auto"
_TABLE = "precisions"


def precision_of(model: str) -> tuple[str, str | None]:
    """A name of `--quantize`, and one plain sentence where something else was written down for this model."""
    kept = _kept().get(model, AUTO)
    if kept in PRECISIONS:
        return kept, None
    return AUTO, (
        f"In [{_TABLE}] of {preferences_file()} {model} is {kept!r}; it must be one of {', '.join(PRECISIONS)}. "
        "It is loaded as auto."
    )


def own_precisions() -> dict[str, str]:
    """By model, where one was chosen. What makes no sense is left out."""
    return {model: kept for model, kept in _kept().items() if kept in PRECISIONS}


def keep_precision(document: TOMLDocument, model: str, precision: str) -> None:
    """Note it in the file; "auto" only where something else would be in force."""
    table = document.get(_TABLE)
    if isinstance(table, MutableMapping):
        if precision != table.get(model, AUTO):
            toml_file.update(table, {model: precision})
    elif precision != AUTO:
        document[_TABLE] = {model: precision}


def _kept() -> Mapping[str, Any]:
    try:
        table = toml_file.read(preferences_file()).get(_TABLE, {})
    except MedusaError:
        return {}  # the theme is in the same file, and says so
    return table if isinstance(table, Mapping) else {}
