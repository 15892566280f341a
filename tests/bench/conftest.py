from __future__ import annotations

from pathlib import Path

import pytest
from doubles.tiny_models import save_tiny_model

from medusa_chat.host.session import Session


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model with three fresh heads."""
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny", heads=3, context=512)


@pytest.fixture(scope="session")
def session(tiny_model: Path) -> Session:
    return Session.open(str(tiny_model))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))
