"""What the person chose is kept in a file of theirs."""

from __future__ import annotations

import os

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.preferences import prefer_theme, preferences_file, preferred_theme


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("MEDUSA_CHAT_HOME", str(tmp_path / "home"))


def write(text: str | bytes) -> None:
    preferences_file().write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_choice_is_kept():
    assert preferred_theme() is None
    prefer_theme("ember")
    prefer_theme("fjord")
    assert preferred_theme() == "fjord"
    assert os.listdir(preferences_file().parent) == ["preferences.toml"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# mine\nother = 1", '# mine\nother = 1\ntheme = "fjord"\n'),
        ('theme = "ember" # nice\nother = [\n  1,\n]\n', 'theme = "fjord"\nother = [\n  1,\n]\n'),
        ("[table]\nx = 1\n", 'theme = "fjord"\n[table]\nx = 1\n'),
        ('[table]\ntheme = "of the table"\n', 'theme = "fjord"\n[table]\ntheme = "of the table"\n'),
    ],
)
def test_everything_else_in_the_file_stays(before, after):
    write(before)
    prefer_theme("fjord")
    assert preferences_file().read_text(encoding="utf-8") == after
    assert preferred_theme() == "fjord"


BAD = ["theme = ", b"\xff\xfe", 'theme = "a"\ntheme = "b"\n']


@pytest.mark.parametrize("text", BAD)
def test_a_broken_file_is_named_and_left_alone(text):
    write(text)
    before = preferences_file().read_bytes()
    for attempt in (preferred_theme, lambda: prefer_theme("fjord")):
        with pytest.raises(MedusaError, match=r"preferences\.toml") as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert str(caught.value).endswith(".")
    assert preferences_file().read_bytes() == before


def test_a_theme_that_is_no_text_is_refused():
    write("theme = 3\n")
    with pytest.raises(MedusaError, match="theme is 3; it must be a name in quotes"):
        preferred_theme()


def test_a_line_that_only_looks_like_the_key_is_not_touched():
    text = 'note = """\ntheme = "no"\n"""\n'
    write(text)
    with pytest.raises(MedusaError, match='write theme = "fjord" there'):
        prefer_theme("fjord")
    assert preferences_file().read_text(encoding="utf-8") == text


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_link_stays_a_link(tmp_path):
    target = tmp_path / "dotfiles.toml"
    target.write_text("x = 1\n", encoding="utf-8")
    preferences_file().symlink_to(target)
    prefer_theme("fjord")
    assert preferences_file().is_symlink()
    assert target.read_text(encoding="utf-8") == 'x = 1\ntheme = "fjord"\n'
