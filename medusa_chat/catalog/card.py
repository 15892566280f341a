"""A model card: what a model is, where its weights come from, and where they lie once they are here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from medusa_chat.catalog.sources import FolderSource, HubSource, Source
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths


@dataclass(frozen=True, slots=True)
class Card:
    name: str
    """What a person types; also the name of the model's folder below `models_dir()`."""
    title: str
    licence: str
    parameters: int | None
    context: int | None
    """Tokens."""
    disk: int | None
    """Bytes the usable weights take on disk."""
    memory: int | None
    """Bytes of memory the process needs with unquantised weights and a full context."""
    notes: str
    heads: str
    """Name of the subfolder with the model's heads, beside the card."""
    source: Source
    home: Path
    """The folder the card was read from."""

    @property
    def store(self) -> Path:
        """This user's folder for the model: pulled weights, unfinished downloads, own heads."""
        return paths.models_dir() / self.name

    def is_here(self) -> bool:
        """True when the weights can be loaded without any network."""
        return self._weights() is not None

    def folder(self) -> Path:
        """The folder transformers can load.

        Raises:
            MedusaError: the weights are not here; the sentence says how to get them.
        """
        weights = self._weights()
        if weights is not None:
            return weights
        if isinstance(self.source, FolderSource):
            raise MedusaError(f"The folder {self.source.path} of model {self.name} holds no config.json.")
        raise MedusaError(
            f"Model {self.name} is not on this machine yet: get it with `medusa-chat models pull {self.name}`."
        )

    def heads_folder(self) -> Path | None:
        """Where the model's Medusa heads lie: those that learned from use before the user's own, these before those that
        came with the card or the folder."""
        if not self._is_bare_folder() and self.learned_folder.is_dir():
            return self.learned_folder
        return self.taught_folder()

    def taught_folder(self) -> Path | None:
        """As `heads_folder`, without those that learned from use."""
        shelves = [self.home] if self._is_bare_folder() else [self.store, self.home]
        if isinstance(self.source, FolderSource):
            shelves.append(self.source.path)
        return next((shelf / self.heads for shelf in shelves if (shelf / self.heads).is_dir()), None)

    @property
    def learned_folder(self) -> Path:
        """Heads that learned from this user's conversations; it appears in one piece or not at all."""
        return self.store / "learned"

    @property
    def weights_folder(self) -> Path:
        """Where converted weights are put; it appears in one piece or not at all."""
        return self.store / "weights"

    @property
    def hub_record(self) -> Path:
        """The file written after a complete hub download; it names the snapshot's folder."""
        return self.store / "snapshot.json"

    def _is_bare_folder(self) -> bool:
        """A folder without a card has no name of its own: heads kept under that name would be another model's."""
        return isinstance(self.source, FolderSource) and self.source.path == self.home

    def _weights(self) -> Path | None:
        if isinstance(self.source, FolderSource):
            folder: Path | None = self.source.path
        elif isinstance(self.source, HubSource):
            folder = self._snapshot(self.source)
        else:
            folder = self.weights_folder
        return folder if folder is not None and (folder / "config.json").is_file() else None

    def _snapshot(self, source: HubSource) -> Path | None:
        try:
            record = json.loads(self.hub_record.read_text("utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(record, dict) or (record.get("repo"), record.get("revision")) != (
            source.repo,
            source.revision,
        ):
            return None
        folder = record.get("folder")
        return Path(folder) if isinstance(folder, str) else None
