"""What a folder of heads says of itself: read from its JSON files alone, so that a screen can show it without torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from medusa_chat.engine.errors import MedusaError

_CONFIG, _CALIBRATION = "config.json", "calibration.json"
"""As `heads.store` and `engine.shapes.calibration` write them."""
_FIVE = 5


@dataclass(frozen=True, slots=True)
class HeadFacts:
    count: int
    made_for: str
    """The model they were trained for, as they name it; empty where they do not."""
    first: tuple[float, ...] = ()
    """Per head: how often its likeliest token was right on held-out answers; empty where nobody measured."""
    among_five: tuple[float, ...] = ()
    """Per head: how often one of its five likeliest tokens was."""
    nodes: int | None = None
    tokens_per_step: float | None = None
    """Expected of the heads alone with trees of `nodes` nodes."""


def read_heads(folder: Path) -> HeadFacts:
    """
    Raises:
        MedusaError: the heads' config.json is missing or damaged, or their calibration is.
    """
    config = _object(folder / _CONFIG)
    count = config.get("medusa_num_heads")
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise MedusaError(f"{folder / _CONFIG} does not say how many heads there are: get or train the heads anew.")
    made_for = config.get("base_model_name_or_path")
    name = made_for if isinstance(made_for, str) else ""
    if not (folder / _CALIBRATION).exists():
        return HeadFacts(count, name)
    calibration = _object(folder / _CALIBRATION)
    try:
        ranks = [tuple(float(share) for share in head) for head in calibration["accuracy"]]
        expected = {int(size): float(length) for size, length in calibration["expected"].items()}
        nodes = int(calibration["budget"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise MedusaError(
            f"{folder / _CALIBRATION} is not a calibration of heads: write it anew with medusa-chat calibrate."
        ) from error
    return HeadFacts(
        count,
        name,
        first=tuple(shares[0] for shares in ranks if shares),
        among_five=tuple(sum(shares[:_FIVE]) for shares in ranks if shares),
        nodes=nodes,
        tokens_per_step=expected.get(nodes),
    )


def _object(file: Path) -> dict[str, Any]:
    try:
        read = json.loads(file.read_text("utf-8"))
    except FileNotFoundError as error:
        raise MedusaError(f"{file} is missing: get or train the heads anew.") from error
    except (OSError, ValueError) as error:
        raise MedusaError(f"{file} cannot be read as JSON ({error}): get or train the heads anew.") from error
    if not isinstance(read, dict):
        raise MedusaError(f"{file} cannot be read: it holds no object; get or train the heads anew.")
    return read
