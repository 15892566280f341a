"""A model that can learn: a card of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from medusa_chat.settings.paths import models_dir

CARD = 'name = "tiny"\ntitle = "Tiny"\nlicence = "MIT"\n[source]\nkind = "folder"\npath = "{path}"\n'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The user's folder of the model "tiny"."""
    folder = models_dir() / "tiny"
    folder.mkdir()
    (folder / "card.toml").write_text(CARD.format(path=tmp_path))
    return folder
