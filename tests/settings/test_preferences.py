"""What the person chose is kept in a file of theirs."""

from __future__ import annotations

import os

import pytest

from medusa_chat.engine.errors import MedusaError
from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.settings.preferences import (
    Remembered,
    prefer_theme,
    preferences_file,
    preferred_theme,
    remember,
    remembered,
)


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
        ('theme = "ember" # nice\nother = [\n  1,\n]\n', 'theme = "fjord" # nice\nother = [\n  1,\n]\n'),
        ("[table]\nx = 1\n", 'theme = "fjord"\n\n[table]\nx = 1\n'),
        ('[table]\ntheme = "of the table"\n', 'theme = "fjord"\n\n[table]\ntheme = "of the table"\n'),
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
    prefer_theme("fjord")
    assert preferences_file().read_text(encoding="utf-8") == text + 'theme = "fjord"\n'


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_link_stays_a_link(tmp_path):
    target = tmp_path / "dotfiles.toml"
    target.write_text("x = 1\n", encoding="utf-8")
    preferences_file().symlink_to(target)
    prefer_theme("fjord")
    assert preferences_file().is_symlink()
    assert target.read_text(encoding="utf-8") == 'x = 1\ntheme = "fjord"\n'


CHANGED = Remembered(
    Decoding("medusa", 12, 3, 4, "cartesian", "threshold", 0.2, 0.5, 0.15),
    Sampling(0.7, 40, 0.9, 0.1, 1.2, 99),
    Limits(100, ("\n\n", "END")),
    {"medusa": False, "settings": True},
)


def test_settings_are_kept():
    assert remembered() == (Remembered(), ())
    remember(CHANGED)
    assert remembered() == (CHANGED, ())
    remember(Remembered())
    assert remembered() == (Remembered(panels=CHANGED.panels), ())


def test_what_is_as_the_program_has_it_is_not_written():
    remember(Remembered(decoding=Decoding(budget=6)))
    assert preferences_file().read_text(encoding="utf-8") == "[decoding]\nbudget = 6\n"


def test_a_person_s_own_lines_and_comments_stay_where_they_are():
    write('# mine\n[decoding] # how\nrule = "typical" # for now\n\n# what is shown\n[panels]\nmedusa = true\n')
    remember(Remembered(decoding=Decoding(heads=2), panels={"medusa": False}))
    assert preferences_file().read_text(encoding="utf-8") == (
        '# mine\n[decoding] # how\nrule = "lossless" # for now\nheads = 2\n\n# what is shown\n[panels]\nmedusa = false\n'
    )


WRONG = [
    ("[decoding]\nbudget = 0\nheads = 2\n", "budget is 0; it must be between 1 and 256"),
    ('[decoding]\nheads = 2\nrule = "wild"\n', "rule is wild; it must be one of greedy"),
    ("[decoding]\nheads = 2\nheadz = 3\n", "there is no headz; did you mean heads"),
    ("sampling = 3\n[decoding]\nheads = 2\n", r"\[sampling\] of .* is no table"),
    ("[decoding]\nheads = 2\n[limits]\nmax_tokens = 0.5\n", "max_tokens is 0.5; it must be a whole number"),
    ('[decoding]\nheads = 2\n[limits]\nstop = "END"\n', "stop is 'END'; it must be a list of texts"),
    ('[decoding]\nheads = 2\n[panels]\nmedusa = "no"\n', "medusa is 'no'; it must be true or false"),
    ("panels = 1\n[decoding]\nheads = 2\n", r"\[panels\] of .* is no table"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_a_wrong_key_is_named_and_the_others_count(text, message):
    write(text)
    found, (problem,) = remembered()
    assert found == Remembered(decoding=Decoding(heads=2))
    assert "preferences.toml" in problem
    with pytest.raises(MedusaError, match=message):
        raise MedusaError(problem)


@pytest.mark.parametrize("text", BAD)
def test_settings_are_not_read_from_a_broken_file_nor_written_to_it(text):
    write(text)
    before = preferences_file().read_bytes()
    for attempt in (remembered, lambda: remember(CHANGED)):
        with pytest.raises(MedusaError, match=r"preferences\.toml"):
            attempt()
    assert preferences_file().read_bytes() == before
