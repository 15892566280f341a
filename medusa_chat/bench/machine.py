"""What a run was measured on, and whether others used the processor meanwhile."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import psutil

from medusa_chat.settings.machine import cpu_model

BUSY_SHARE = 0.1
"""Share of the processor used by others from which figures deserve a warning."""


def describe() -> dict[str, Any]:
    """Processor, memory, graphics card and versions; imports torch."""
    import torch

    return {
        "cpu": cpu_model(),
        "cores": psutil.cpu_count(logical=False),
        "logical_cores": psutil.cpu_count(),
        "threads": torch.get_num_threads(),
        "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "system": platform.platform(),
        "python": platform.python_version(),
        "torch": version("torch"),
        "transformers": version("transformers"),
        "medusa_chat": version("medusa-chat"),
    }


@dataclass(slots=True)
class Others:
    """The share of the processor that everyone but this process and its children used since creation."""

    _start: tuple[float, float, float] = field(default_factory=lambda: _clocks())

    def share(self) -> float | None:
        """0..1; None before the clocks have moved."""
        total, busy, own = (now - then for now, then in zip(_clocks(), self._start, strict=True))
        return min(max((busy - own) / total, 0.0), 1.0) if total > 0 else None


def _clocks() -> tuple[float, float, float]:
    """Seconds of all cores since the start of the machine: all, busy, and spent by this process and its children."""
    times = psutil.cpu_times()
    # On Linux guest time is already part of user time; waiting for a disk keeps no core busy.
    parts = {name: value for name, value in times._asdict().items() if not name.startswith("guest")}
    total = sum(parts.values())
    idle = parts["idle"] + parts.get("iowait", 0.0)
    return total, total - idle, _own_seconds()


def _own_seconds() -> float:
    me = psutil.Process(os.getpid())
    seconds = 0.0
    for process in (me, *me.children(recursive=True)):
        try:
            spent = process.cpu_times()
        except psutil.Error:
            continue
        # With those of its children that have ended, where the system keeps them.
        seconds += sum(spent[:4])
    return seconds
