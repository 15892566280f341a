"""The most memory a process has held."""

from __future__ import annotations

import os
from pathlib import Path

import psutil


def peak_bytes(pid: int | None = None) -> int | None:
    """High-water mark of the resident memory of a process, this one by default; None where nobody keeps it.

    Linux and Windows keep it for every process, other systems for the asking process alone.
    """
    try:
        return _linux(pid or os.getpid()) or _windows(pid) or (_own() if pid is None else None)
    except (OSError, psutil.Error):
        return None


def _linux(pid: int) -> int | None:
    file = Path(f"/proc/{pid}/status")
    if not file.exists():
        return None
    marks = (line.split()[1] for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("VmHWM:"))
    return next((1024 * int(kilobytes) for kilobytes in marks), None)


def _windows(pid: int | None) -> int | None:
    return getattr(psutil.Process(pid).memory_info(), "peak_wset", None)


def _own() -> int | None:
    try:
        import resource
    except ImportError:
        return None
    # Bytes on macOS, the only system without /proc or peak_wset that is left.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
