"""The table of keys in the preferences: what is read, and how what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.keymap import read_keymap
from medusa_chat.settings.preferences import preferences_file


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path))


def write(text: str) -> None:
    preferences_file().write_text(text, "utf-8")


def test_nothing_is_mapped_without_a_file_or_a_table() -> None:
    assert read_keymap().keys == {}
    write('theme = "medusa-dark"')
    assert read_keymap().keys == {}
    assert read_keymap().problems == ()


def test_keys_are_read_however_they_are_written() -> None:
    write('theme = "x"\n[keymap]\n"chat.new" = "ctrl+k, f3"\nchat.panel = ["ctrl+t", "?"]\n"chat.stop" = ","\n')
    keymap = read_keymap()
    assert keymap.keys == {"chat.new": ("ctrl+k", "f3"), "chat.panel": ("ctrl+t", "?"), "chat.stop": (",",)}
    assert keymap.place("chat.new") == f"{preferences_file()}, line 3"
    assert keymap.place("chat.panel") == f"{preferences_file()}, line 4"
    assert keymap.place("chat.other") == str(preferences_file())


@pytest.mark.parametrize("value", ["3", "true", '""', '["ctrl+k", 3]', "[]", '"ctrl+k,"'])
def test_what_is_no_key_is_named_by_line(value: str) -> None:
    write(f'[keymap]\n# mine\n"chat.new" = {value}\n"chat.stop" = "f4"\n')
    keymap = read_keymap()
    assert keymap.keys == {"chat.stop": ("f4",)}
    (problem,) = keymap.problems
    assert problem.startswith(f"{preferences_file()}, line 3: chat.new must be a key in quotes")


def test_a_keymap_that_is_no_table() -> None:
    write('keymap = "ctrl+k"')
    assert read_keymap().problems == (f"In {preferences_file()} keymap must be a table, written [keymap].",)


def test_a_file_that_is_not_toml() -> None:
    write("[keymap")
    with pytest.raises(MedusaError, match="is not readable as TOML"):
        read_keymap()
