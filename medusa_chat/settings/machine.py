"""What this machine is called."""

from __future__ import annotations

import platform
from pathlib import Path


def cpu_model() -> str:
    """The processor's own name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
