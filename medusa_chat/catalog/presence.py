"""How much of a model's weights is on this machine."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.sources import FolderSource, HubSource, PypiSource

_NEARLY = 0.99
"""More than this is never shown for a pull that has not ended."""


@dataclass(frozen=True, slots=True)
class Presence:
    here: bool
    part: float = 0.0
    """Of a pull that broke off: the share that was downloaded, 0 when nothing was."""
    taken: int = 0
    """Bytes removing would free, as far as they are known; a folder of the person's own is never removed."""


def presence(card: Card) -> Presence:
    """Looks at the disk."""
    here, fetched = card.is_here(), _fetched(card)
    if isinstance(card.source, FolderSource):
        return Presence(here)
    if here:
        return Presence(True, taken=card.disk or fetched)
    total = weight_bytes(card)
    part = min(fetched / total, _NEARLY) if total and fetched else 0.0
    return Presence(False, part, fetched)


def weight_bytes(card: Card) -> int | None:
    """Bytes to download, where the card says how many."""
    return card.source.wheel_size if isinstance(card.source, PypiSource) else card.disk


def _fetched(card: Card) -> int:
    """Bytes of an unfinished download, or of a hub snapshot."""
    if isinstance(card.source, PypiSource):
        return _size_of(card.store / "download")
    if isinstance(card.source, HubSource):
        return _size_of(_hub_cache() / f"models--{card.source.repo.replace('/', '--')}" / "blobs")
    return 0


def _hub_cache() -> Path:
    """As the hub's own library finds it; importing that takes longer than a screen should."""
    if cache := os.environ.get("HF_HUB_CACHE") or os.environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(cache).expanduser()
    home = os.environ.get("HF_HOME")
    if home is None:
        home = os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface")
    return Path(home).expanduser() / "hub"


def _size_of(folder: Path) -> int:
    """Of the files right in it; files that go while one looks count nothing."""
    count = 0
    try:
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False):
                count += entry.stat().st_size
    except OSError:
        pass
    return count
