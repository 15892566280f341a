"""The decoding options an answer was made with, step by step, read back from what was kept with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding

_FIELDS = frozenset(field.name for field in fields(Decoding))


def decodings_of(settings: Mapping[str, Any] | None) -> list[tuple[int, Decoding]]:
    """(number of the first step, options from there on), in order.

    Kept settings may come from an imported file and say anything: what is no such options is left out.
    """
    if not isinstance(settings, Mapping):
        return []
    changes = settings.get("changes")
    listed = [change for change in changes if isinstance(change, Mapping)] if isinstance(changes, list) else []
    entries = [(1, settings.get("decoding")), *((change.get("step"), change.get("decoding")) for change in listed)]
    read = [(step, _decoding(values)) for step, values in entries if isinstance(step, int)]
    return [(step, decoding) for step, decoding in read if decoding is not None]


def temperature_of(settings: Mapping[str, Any] | None) -> float | None:
    """At which the answer began; None where that is not told."""
    sampling = settings.get("sampling") if isinstance(settings, Mapping) else None
    value = sampling.get("temperature") if isinstance(sampling, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and value >= 0 else None


def _decoding(values: object) -> Decoding | None:
    if not isinstance(values, Mapping):
        return None
    try:
        return Decoding(**{name: value for name, value in values.items() if name in _FIELDS})
    except (MedusaError, TypeError):
        return None
