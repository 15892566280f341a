"""Memory of this machine's graphics card, asked of its driver's own tool: no torch is needed."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass

_TOOL = "nvidia-smi"
_QUESTION = ("--query-gpu=name,memory.total,memory.free", "--format=csv,noheader,nounits")
_SECONDS = 5.0
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Graphics:
    name: str
    total: int
    """Bytes."""
    free: int


def graphics() -> Graphics | None:
    """The first card; None where there is none, or its driver does not answer."""
    tool = shutil.which(_TOOL)
    if tool is None:
        return None
    try:
        said = subprocess.run([tool, *_QUESTION], capture_output=True, text=True, timeout=_SECONDS, check=True).stdout
        name, total, free = (part.strip() for part in said.splitlines()[0].rsplit(",", 2))
        return Graphics(name, int(total) * _MIB, int(free) * _MIB)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return None
