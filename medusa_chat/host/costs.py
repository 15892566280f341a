"""What passes cost, measured once and kept: the curve belongs to this machine, these weights and this precision."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.cost import CostCurve, measure
from medusa_chat.engine.drafters.guesses import HeadModel
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.machine import cpu_model
from medusa_chat.settings.paths import cost_file

FASTER = 0.7
"""A plain step that takes less than this share of the kept one shows that the kept curve was taken in a bad moment."""


def curve_for(
    backbone: Backbone,
    plain_ms: float,
    heads: HeadModel | None = None,
    on_progress: Callable[[float], None] | None = None,
    *,
    anew: bool = False,
) -> CostCurve:
    """The kept curve, or one measured now (seconds) and kept.

    A file that cannot be read, does not belong here or cannot be written is as good as none.

    Args:
        plain_ms: of a plain step timed just now.
        heads: where there are some.
        on_progress: told the share of measuring that is done; not called when nothing is measured.
        anew: measure in any case.
    """
    key = key_of(backbone)
    file = _file(key)
    kept = None if anew or file is None else _read(file, key)
    if kept is not None and plain_ms > FASTER * kept.pass_ms(1) and (heads is None or kept.draft_ms > 0.0):
        return kept
    curve = measure(backbone, heads, on_progress=on_progress)
    if file is not None:
        _write(file, key, curve)
    return curve


def key_of(backbone: Backbone) -> dict[str, Any]:
    """All that a curve depends on."""
    cuda = backbone.device.type == "cuda"
    return {
        "machine": torch.cuda.get_device_name(backbone.device) if cuda else cpu_model(),
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "weights": backbone.fingerprint(),
        "precision": backbone.precision,
        "dtype": str(backbone.dtype),
        "forward": backbone.forward_name,
        "torch": torch.__version__,
    }


def _file(key: dict[str, Any]) -> Path | None:
    """None where there is no folder for it."""
    try:
        return cost_file(hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:32])
    except MedusaError:
        return None


def _read(file: Path, key: dict[str, Any]) -> CostCurve | None:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
        if raw["key"] != key:
            return None
        return CostCurve(tuple(map(int, raw["nodes"])), tuple(map(float, raw["ms"])), float(raw["draft_ms"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(file: Path, key: dict[str, Any], curve: CostCurve) -> None:
    whole = {"key": key, "nodes": curve.nodes, "ms": curve.ms, "draft_ms": curve.draft_ms}
    # Another start may read or write it at the same time: it is there whole or not at all.
    partial = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        partial.write_text(json.dumps(whole) + "\n", encoding="utf-8")
        partial.replace(file)
