from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from doubles.screen_ends import FAKE_CHILD, ServedScreen, WatchedClient


@pytest.fixture
def screen() -> Iterator[ServedScreen]:
    screen = ServedScreen()
    yield screen
    screen.close()


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def watch(home) -> Iterator[Callable[..., WatchedClient]]:
    """Makes watched clients (of a fake model unless told otherwise) and closes them."""
    clients: list[WatchedClient] = []

    def make(command=FAKE_CHILD) -> WatchedClient:
        clients.append(WatchedClient(command))
        return clients[-1]

    yield make
    for client in clients:
        client.client.close()
