"""How heads' guesses become a candidate tree: fixed rank paths, Cartesian product, best nodes first."""

from __future__ import annotations

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import TreeKind
from medusa_chat.engine.shapes.base import TreeShape
from medusa_chat.engine.shapes.calibration import Calibration
from medusa_chat.engine.shapes.cartesian import CartesianShape
from medusa_chat.engine.shapes.dynamic import DynamicShape
from medusa_chat.engine.shapes.paths import PUBLISHED_63, PathShape

__all__ = ["PUBLISHED_63", "CartesianShape", "DynamicShape", "PathShape", "TreeShape", "shape_for"]


def shape_for(kind: TreeKind, calibration: Calibration | None, budget: int) -> TreeShape:
    """The shape the options ask for.

    Raises:
        MedusaError: a calibrated tree is wanted from heads that were never calibrated.
    """
    match kind:
        case "dynamic":
            return DynamicShape(calibration)
        case "cartesian":
            return CartesianShape()
        case "published":
            return PathShape(PUBLISHED_63)
        case "calibrated":
            return PathShape(_calibrated(calibration, budget))


def _calibrated(calibration: Calibration | None, budget: int) -> tuple[tuple[int, ...], ...]:
    """The best static tree for the budget: the smallest one that fills it, else the largest there is."""
    if calibration is None or not calibration.trees:
        raise MedusaError("These heads were never calibrated; run medusa-chat calibrate, or choose the dynamic tree.")
    size = min((size for size in calibration.trees if size >= budget), default=max(calibration.trees))
    return calibration.trees[size]
