from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings import paths

FOLDERS = (paths.config_dir, paths.data_dir, paths.state_dir, paths.cache_dir, paths.models_dir)


def test_home_variable_moves_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "h"))
    folders = [folder() for folder in FOLDERS]
    assert len(set(folders)) == len(FOLDERS)
    assert all(folder.is_dir() and folder.is_relative_to(tmp_path / "h") for folder in folders)
    assert paths.log_file().parent == paths.state_dir()
    assert paths.chats_file().parent == paths.data_dir()
    assert paths.cost_file("a").parent.parent == paths.cache_dir()


def test_without_it_the_platform_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEDUSA_CHAT_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CONFIG", "DATA", "STATE", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    assert all(folder().is_relative_to(tmp_path) and "medusa-chat" in folder().parts for folder in FOLDERS)


@pytest.mark.skipif(os.name != "posix", reason="folder modes are a POSIX thing")
def test_new_folders_are_private_and_old_ones_keep_their_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "shared"
    home.mkdir(mode=0o755)
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(home))
    assert paths.models_dir().stat().st_mode & 0o777 == 0o700
    assert paths.data_dir().stat().st_mode & 0o777 == 0o700
    assert home.stat().st_mode & 0o777 == 0o755


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "file"))
    with pytest.raises(MedusaError, match="MEDUSA_CHAT_HOME"):
        paths.data_dir()


def test_importing_writes_nothing(tmp_path: Path) -> None:
    code = "import medusa_chat.settings.paths, medusa_chat.catalog"
    environment = {**os.environ, "MEDUSA_CHAT_HOME": str(tmp_path / "h"), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert not (tmp_path / "h").exists()


def test_bundled_models_are_found_in_a_checkout() -> None:
    assert (paths.bundled_dir("models") / "smollm2-135m-instruct" / "card.toml").is_file()


def test_bundled_folder_of_a_wheel_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "medusa_chat"
    (package / "models").mkdir(parents=True)
    (package.parent / "models").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", package)
    assert paths.bundled_dir("models") == package / "models"


def test_a_strangers_folder_beside_the_package_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "medusa_chat"
    package.mkdir(parents=True)
    (package.parent / "themes").mkdir()
    monkeypatch.setattr(paths, "_PACKAGE", package)
    with pytest.raises(MedusaError, match="install it again"):
        paths.bundled_dir("themes")
