"""Which models there are: cards that came with the program, cards of the user, and any folder transformers can load."""

from __future__ import annotations

import difflib
import json
import os
import re
from pathlib import Path

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.reading import CARD_FILE, NAME, read_card
from medusa_chat.catalog.sources import FolderSource
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths


def all_cards() -> list[Card]:
    """Every card, by name; a user's card `models_dir()/NAME/card.toml` takes the place of a bundled one.

    Raises:
        MedusaError: a card is wrong.
    """
    return [read_card(home) for home in _homes()]


def readable_cards() -> tuple[list[Card], list[str]]:
    """As `all_cards`, but for those that are wrong: of each a plain sentence instead."""
    read = [_card_or_problem(home) for home in _homes()]
    return [card for card in read if isinstance(card, Card)], [text for text in read if isinstance(text, str)]


def find(name_or_path: str) -> Card:
    """The card called so, or one made up for a local folder that holds a card.toml or a config.json.

    Raises:
        MedusaError: there is no such model; the sentence lists those there are.
    """
    if NAME.fullmatch(name_or_path):
        for shelf in reversed(_shelves()):
            if (shelf / name_or_path / CARD_FILE).is_file():
                return read_card(shelf / name_or_path)
    folder = Path(name_or_path).expanduser().absolute()
    if (folder / CARD_FILE).is_file():
        return read_card(folder)
    if (folder / "config.json").is_file():
        return _card_of_folder(folder)
    raise MedusaError(_unknown(name_or_path, folder))


def _shelves() -> tuple[Path, Path]:
    """Folders of cards; the later wins."""
    return paths.bundled_dir("models"), paths.models_dir()


def _card_or_problem(home: Path) -> Card | str:
    try:
        return read_card(home)
    except MedusaError as error:
        return str(error)


def _homes() -> list[Path]:
    """One folder per name, by name."""
    homes = {home.name: home for shelf in _shelves() for home in _card_folders(shelf)}
    return [homes[name] for name in sorted(homes)]


def _card_folders(shelf: Path) -> list[Path]:
    return [home for home in shelf.iterdir() if (home / CARD_FILE).is_file()]


def _unknown(name_or_path: str, folder: Path) -> str:
    if os.sep in name_or_path and folder.is_dir():
        return f"The folder {folder} holds neither a {CARD_FILE} nor a config.json, so it is not a model."
    names = sorted({home.name for shelf in _shelves() for home in _card_folders(shelf)})
    close = difflib.get_close_matches(name_or_path, names, n=1)
    hint = f" Did you mean {close[0]}?" if close else ""
    return (
        f"There is no model called {name_or_path!r}: known are {', '.join(names)}, "
        f"or give the path of a folder that holds a config.json.{hint}"
    )


def _card_of_folder(folder: Path) -> Card:
    """A card from what the folder itself says; parameters are estimated from the size of its weight files."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MedusaError(f"The file {folder / 'config.json'} cannot be read as JSON: {error}.") from error
    if not isinstance(config, dict):
        raise MedusaError(f"The file {folder / 'config.json'} is not a model's configuration.")
    context = config.get("max_position_embeddings")
    disk = sum(file.stat().st_size for file in folder.iterdir() if file.is_file())
    return Card(
        name=re.sub(r"[^a-z0-9._-]+", "-", folder.name.lower()).strip("-._") or "model",
        title="".join(char if char.isprintable() else "?" for char in folder.name),
        licence="unknown",
        parameters=None,
        context=context if isinstance(context, int) else None,
        disk=disk,
        memory=None,
        notes="",
        heads="heads",
        source=FolderSource(folder),
        home=folder,
    )
