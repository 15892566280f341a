"""Cards of the person's own: a folder, a hub repository, and what is neither."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from medusa_chat import catalog
from medusa_chat.catalog.adding import add, forget, is_own
from medusa_chat.catalog.sources import HubSource
from medusa_chat.engine.errors import MedusaError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / 'My "Model" 1'
    folder.mkdir()
    (folder / "config.json").write_text('{"max_position_embeddings": 512}')
    save_file({"a": torch.zeros(3, 4), "b": torch.zeros(5)}, folder / "model.safetensors")
    return folder


def test_a_folder_becomes_a_model_with_a_name_that_is_listed(folder: Path) -> None:
    (folder / "heads").mkdir()
    card = add(f"  {folder} ")
    assert card.name == "my-model-1"
    assert card in catalog.all_cards()
    assert card == catalog.find("my-model-1")
    assert card.is_here()
    assert card.folder() == folder
    assert card.heads_folder() == folder / "heads"
    assert (card.parameters, card.context) == (17, 512)
    assert card.memory is not None
    assert is_own(card)
    forget(card)
    assert card.name not in [each.name for each in catalog.all_cards()]
    assert (folder / "config.json").exists()


def test_a_folder_is_added_once(folder: Path) -> None:
    add(str(folder))
    with pytest.raises(MedusaError, match="is here already, as my-model-1"):
        add(str(folder))


def test_a_hub_repository_gets_a_card_and_nothing_is_downloaded() -> None:
    card = add("Someone/Some_Model.v1")
    assert isinstance(card.source, HubSource)
    assert card.source.repo == "Someone/Some_Model.v1"
    assert card.name == "some_model.v1"
    assert not card.is_here()
    assert add("other/some_model.v1").name == "some_model.v1-2"


@pytest.mark.parametrize("place", ["", "  ", "nothing", "/no/such/folder", "a/b/c", "a/b\x1b[31m"])
def test_what_is_neither_is_refused(place: str) -> None:
    with pytest.raises(MedusaError, match="neither a folder on this machine nor a hub repository"):
        add(place)


def test_a_folder_whose_path_no_card_can_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad\x1b[31m").mkdir()
    (tmp_path / "bad\x1b[31m" / "config.json").write_text("{}")
    with pytest.raises(MedusaError, match="cannot be printed: rename it"):
        add(str(tmp_path / "bad\x1b[31m"))


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(MedusaError, match=r"holds neither a card\.toml nor a config\.json"):
        add(str(tmp_path / "empty"))


@pytest.mark.parametrize("header", [b"", b"\xff" * 20, b"\x02\x00\x00\x00\x00\x00\x00\x00[]"])
def test_weights_that_cannot_be_weighed_are_of_unknown_size(folder: Path, header: bytes) -> None:
    (folder / "model.safetensors").write_bytes(header)
    card = add(str(folder))
    assert card.parameters is card.memory is None


def test_bundled_cards_stay() -> None:
    with pytest.raises(MedusaError, match="came with the program"):
        forget(catalog.find(catalog.DEFAULT_MODEL))


def test_a_config_that_is_no_object_is_refused(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps([1]))
    with pytest.raises(MedusaError, match="is not a model's configuration"):
        add(str(folder))
