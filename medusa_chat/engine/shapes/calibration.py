"""What calibration learned about a set of heads: how often each guess is right, and what their probabilities mean."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.shapes.base import RankPath

FILE_NAME = "calibration.json"


@dataclass(frozen=True, slots=True)
class Reliability:
    """Piecewise linear map from a head's own probability to the observed frequency of being right.

    Both lists have the same length; `raw` rises strictly, `observed` never falls. Observed among the positions where
    a right path through the shallower heads existed, because only there a node of this depth can be accepted.
    """

    raw: tuple[float, ...]
    observed: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Measured on held-out answers; written beside the heads as calibration.json."""

    accuracy: tuple[tuple[float, ...], ...]
    """[heads][ranks]: share of held-out positions where the token at that rank of that head was the right one."""
    reliability: tuple[Reliability, ...]
    """One map per head."""
    trees: dict[int, tuple[RankPath, ...]] = field(default_factory=dict)
    """Budget -> best static tree of that size (root not listed), by expected accepted length."""
    expected: dict[int, float] = field(default_factory=dict)
    """Budget -> expected accepted length of the dynamic tree of that size."""
    budget: int = 8
    """The budget that paid most on the machine that calibrated."""
    positions: int = 0
    """Held-out positions that were measured."""

    def save(self, folder: Path) -> Path:
        path = folder / FILE_NAME
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, folder: Path) -> Calibration | None:
        """None when the heads were never calibrated.

        Raises:
            MedusaError: the file is there but cannot be read as a calibration.
        """
        path = folder / FILE_NAME
        if not path.exists():
            return None
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(
                accuracy=tuple(tuple(map(float, row)) for row in raw["accuracy"]),
                reliability=tuple(
                    Reliability(tuple(map(float, curve["raw"])), tuple(map(float, curve["observed"])))
                    for curve in raw["reliability"]
                ),
                trees={
                    int(size): tuple(tuple(map(int, path)) for path in paths) for size, paths in raw["trees"].items()
                },
                expected={int(size): float(length) for size, length in raw["expected"].items()},
                budget=int(raw["budget"]),
                positions=int(raw["positions"]),
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise MedusaError(
                f"{path} is not a calibration of heads; write it anew with medusa-chat calibrate."
            ) from error
