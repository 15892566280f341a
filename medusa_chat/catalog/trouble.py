"""Turns what a disk says into one plain sentence."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medusa_chat.catalog.size import size
from medusa_chat.engine.errors import MedusaError

_FULL = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def disk_full(folder: Path) -> MedusaError:
    return MedusaError(
        f"The disk that holds {folder} is full: free some space and start the pull again, it goes on where it stopped."
    )


def require_space(folder: Path, needed: int) -> None:
    """Refuses before the first byte what would fail after the last one.

    Raises:
        MedusaError: fewer than `needed` bytes are free where `folder` lies.
    """
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise MedusaError(
            f"The disk that holds {folder} has {size(free)} free, but {size(needed)} are needed: "
            "free some space, or set MEDUSA_CHAT_HOME to a folder on another disk."
        )


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Within it, a full disk or a forbidden write below `folder` raises a MedusaError."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(folder) from error
        if error.errno in _FORBIDDEN:
            raise MedusaError(
                f"Writing to {error.filename or folder} is not permitted: "
                "correct its permissions, or set MEDUSA_CHAT_HOME to a folder of your own."
            ) from error
        raise
