"""The hub's own library against a server on this machine that speaks the few of its endpoints a snapshot needs."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from doubles.file_site import Site
from doubles.wheel_packages import write_card
from huggingface_hub import constants

from medusa_chat import catalog
from medusa_chat.catalog import Card
from medusa_chat.engine.errors import MedusaError

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CARD = """
name = "tiny"
title = "Tiny"
licence = "MIT"
disk = 1000
[source]
kind = "hub"
repo = "someone/tiny"
revision = "main"
allow = ["*.json", "*.safetensors"]
"""
FILES = {"config.json": b"{}", "model.safetensors": bytes(range(256)) * 2000, "README.md": b"not asked for"}


@pytest.fixture
def hub(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setattr(constants, "ENDPOINT", site.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", site.url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    repository = "/api/models/someone/tiny"
    info = {"id": "someone/tiny", "modelId": "someone/tiny", "sha": COMMIT, "private": False, "siblings": []}
    site.files[f"{repository}/revision/main"] = json.dumps(info).encode()
    tree = [
        {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
        for name, data in FILES.items()
    ]
    site.files[f"{repository}/tree/{COMMIT}"] = json.dumps(tree).encode()
    for path in list(site.files):
        site.kinds[path] = "application/json"
    for name, data in FILES.items():
        path = f"/someone/tiny/resolve/{COMMIT}/{name}"
        site.files[path] = data
        site.headers[path] = {"ETag": f'"{hashlib.sha1(data).hexdigest()}"', "X-Repo-Commit": COMMIT}
    return site


@pytest.fixture
def card(hub: Site) -> Card:
    return write_card(CARD)


def test_a_snapshot_is_pulled_once(hub: Site, card: Card) -> None:
    told: list[float] = []
    folder = catalog.pull(card, lambda stage, done: told.append(done) if done is not None else None)
    assert {file.name for file in folder.iterdir()} == {"config.json", "model.safetensors"}
    assert (folder / "model.safetensors").read_bytes() == FILES["model.safetensors"]
    assert told == sorted(told)
    assert told[-1] == 1.0
    hub.asked.clear()
    assert catalog.pull(card) == card.folder() == folder
    assert hub.asked == []


def test_a_snapshot_that_broke_off_is_not_here(hub: Site, card: Card) -> None:
    hub.statuses[f"/someone/tiny/resolve/{COMMIT}/model.safetensors"] = 404
    with pytest.raises(MedusaError, match="lacks a file of someone/tiny"):
        catalog.pull(card)
    assert not card.is_here()
    hub.statuses.clear()
    catalog.pull(card)
    assert card.is_here()


def test_a_card_that_now_names_another_revision_is_not_here(hub: Site, card: Card) -> None:
    catalog.pull(card)
    assert not write_card(CARD.replace('"main"', '"v2"')).is_here()


def test_remove_frees_the_hub_cache(hub: Site, card: Card, tmp_path: Path) -> None:
    folder = catalog.pull(card)
    assert catalog.remove(card) is True
    assert not folder.exists()
    assert not card.is_here()
    assert not list((tmp_path / "hub").rglob("*.safetensors"))


def test_no_hub(card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:1")
    with pytest.raises(MedusaError, match="hub cannot be reached"):
        catalog.pull(card)


def test_unknown_repository_and_revision(hub: Site, card: Card) -> None:
    path = "/api/models/someone/tiny/revision/main"
    hub.statuses[path] = 404
    hub.headers[path] = {"X-Error-Code": "RevisionNotFound"}
    with pytest.raises(MedusaError, match="no revision 'main'"):
        catalog.pull(card)
    hub.headers[path] = {"X-Error-Code": "RepoNotFound"}
    with pytest.raises(MedusaError, match="no repository someone/tiny"):
        catalog.pull(card)
    hub.headers[path] = {"X-Error-Code": "GatedRepo"}
    hub.statuses[path] = 403
    with pytest.raises(MedusaError, match="terms"):
        catalog.pull(card)


def test_a_repository_without_config(hub: Site) -> None:
    with pytest.raises(MedusaError, match=r"no config\.json"):
        catalog.pull(write_card(CARD.replace('"*.json"', '"*.bin"')))
