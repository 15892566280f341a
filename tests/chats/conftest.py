from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from medusa_chat.chats.database import Database


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"


@pytest.fixture
def db(file: Path) -> Iterator[Database]:
    database = Database(file)
    yield database
    database.close()
