"""How many parameters a folder of weights holds: the headers of its safetensors files say so, no weight is read."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

_BESIDE_WEIGHTS = 1_000_000_000
"""Bytes of the process beside float32 weights: torch itself and the keys and values of a long conversation."""
_LONGEST_HEADER = 100_000_000


def parameters_of(folder: Path) -> int | None:
    """None where there is no safetensors file, or one cannot be read."""
    files = sorted(folder.glob("*.safetensors"))
    try:
        return sum(map(_count, files)) or None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def memory_of(parameters: int) -> int:
    """Bytes the process is likely to need."""
    return 4 * parameters + _BESIDE_WEIGHTS


def _count(file: Path) -> int:
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > _LONGEST_HEADER:
            raise ValueError(f"{file} has no header")
        header = json.loads(stream.read(length))
    return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")
