"""A model card of the person's own, for a folder on this machine or a repository of the hub."""

from __future__ import annotations

import json
import re
from pathlib import Path

from medusa_chat.catalog.card import Card
from medusa_chat.catalog.finding import all_cards, find
from medusa_chat.catalog.reading import CARD_FILE, REPO, read_card
from medusa_chat.catalog.sources import FolderSource
from medusa_chat.catalog.trouble import disk_errors
from medusa_chat.catalog.weighing import memory_of, parameters_of
from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths

_FILES = (
    "config.json", "generation_config.json", "*.safetensors", "*.safetensors.index.json", "tokenizer*",
    "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt", "chat_template*",
)  # fmt: skip


def add(place: str) -> Card:
    """Write a card for a folder that transformers can load, or for `owner/name` on the hub. Nothing is downloaded.

    Raises:
        MedusaError: it is neither, there is a card for it already, or the card cannot be written.
    """
    place = place.strip()
    folder = Path(place).expanduser().absolute()
    if place and folder.is_dir():
        return _add_folder(find(str(folder)), folder)
    if REPO.fullmatch(place):
        return _write(
            _free_name(place.partition("/")[2]),
            [f"title = {_quoted(place)}", f"licence = {_quoted(f'see huggingface.co/{place}')}"],
            ['kind = "hub"', f"repo = {_quoted(place)}", 'revision = "main"', f"allow = {json.dumps(_FILES)}"],
        )
    raise MedusaError(f"{place!r} is neither a folder on this machine nor a hub repository, written owner/name.")


def is_own(card: Card) -> bool:
    """The card itself is the person's and can be taken off the list."""
    return card.home.parent == paths.models_dir()


def forget(card: Card) -> None:
    """Take a card of the person's own off the list; weights, heads and folders stay.

    Raises:
        MedusaError: it came with the program, or the disk refuses.
    """
    if not is_own(card):
        raise MedusaError(f"The card of {card.name} came with the program and stays.")
    with disk_errors(card.home):
        (card.home / CARD_FILE).unlink(missing_ok=True)


def _add_folder(found: Card, folder: Path) -> Card:
    """A card of its own beside what the folder says of itself."""
    for card in all_cards():
        if isinstance(card.source, FolderSource) and card.source.path == folder:
            raise MedusaError(f"The folder {folder} is here already, as {card.name}.")
    if not str(folder).isprintable():
        raise MedusaError(f"The path {str(folder)!r} holds characters that cannot be printed: rename it.")
    parameters = parameters_of(folder)
    facts = [f"title = {_quoted(found.title)}", f"licence = {_quoted(found.licence)}"]
    numbers = {"context": found.context, "disk": found.disk, "parameters": parameters}
    numbers["memory"] = memory_of(parameters) if parameters else None
    facts += [f"{key} = {value}" for key, value in numbers.items() if value]
    return _write(_free_name(found.name), facts, ['kind = "folder"', f"path = {_quoted(str(folder))}"])


def _write(name: str, facts: list[str], source: list[str]) -> Card:
    home = paths.models_dir() / name
    with disk_errors(home):
        home.mkdir(mode=0o700, exist_ok=True)
        lines = [f'name = "{name}"', *facts, "", "[source]", *source, ""]
        (home / CARD_FILE).write_text("\n".join(lines), "utf-8")
    return read_card(home)


def _free_name(wanted: str) -> str:
    """A card's name that no other has."""
    base = re.sub(r"[^a-z0-9._-]+", "-", wanted.lower()).strip("-._") or "model"
    taken = {card.name for card in all_cards()}
    return next(name for name in (base, *(f"{base}-{count}" for count in range(2, 10_000))) if name not in taken)


def _quoted(text: str) -> str:
    """A TOML string; JSON's is one, but for what no card may hold anyway."""
    return json.dumps("".join(char if char.isprintable() else "?" for char in text), ensure_ascii=False)
