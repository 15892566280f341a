"""Takes pulled weights off this machine; cards and heads stay."""

from __future__ import annotations

import shutil
from pathlib import Path

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.pulling import only_one
from medusa_chat.catalog.sources import FolderSource, HubSource
from medusa_chat.catalog.trouble import disk_errors
from medusa_chat.engine.errors import MedusaError


def remove(card: Card) -> bool:
    """Deletes the weights and unfinished downloads of the card; False when there was nothing.

    A hub snapshot leaves the hub's cache too, for every program that shares it.

    Raises:
        MedusaError: the card stands for a folder of the user's own, which is never deleted, or the disk refuses.
    """
    if isinstance(card.source, FolderSource):
        raise MedusaError(
            f"Model {card.name} is your own folder {card.source.path}: delete it yourself if you mean to."
        )
    with only_one(card), disk_errors(card.store):
        found = [entry for entry in (card.weights_folder, card.store / "download") if entry.exists()]
        for entry in found:
            shutil.rmtree(entry)
        if card.hub_record.exists():
            if isinstance(card.source, HubSource) and card.is_here():
                _remove_snapshot(card.folder())
            card.hub_record.unlink()
            found.append(card.hub_record)
    return bool(found)


def _remove_snapshot(folder: Path) -> None:
    from huggingface_hub import scan_cache_dir

    # .../models--owner--name/snapshots/COMMIT
    scan_cache_dir(folder.parent.parent.parent).delete_revisions(folder.name).execute()
