"""The least time a step can take here: what it must read, at the speed this machine's memory gives it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import torch

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.forward.native import NativeForward

_BYTES = 1 << 28
_REPEATS = 8


@dataclass(frozen=True, slots=True)
class Roofline:
    weight_bytes: int
    """Read by every pass, whatever the number of nodes."""
    bytes_per_second: float
    """Read from memory, the best of some tries with all threads."""

    @property
    def ms(self) -> float:
        """Of a pass that waits for nothing but its weights."""
        return 1000.0 * self.weight_bytes / self.bytes_per_second


def roofline(backbone: Backbone) -> Roofline | None:
    """Of the native path; the others do not say how many bytes they read."""
    if not isinstance(backbone.forward, NativeForward):
        return None
    return Roofline(backbone.forward.weight_bytes, read_speed())


def read_speed() -> float:
    """Bytes per second of summing more numbers than any cache holds."""
    numbers = torch.ones(_BYTES // 4)
    fastest = min(_seconds(numbers) for _ in range(_REPEATS))
    return _BYTES / fastest


def _seconds(numbers: torch.Tensor) -> float:
    began = perf_counter()
    numbers.sum()
    return perf_counter() - began
