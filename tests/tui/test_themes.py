"""Themes are files a person may write, so they may be wrong; those that come with the program must be readable."""

from __future__ import annotations

from itertools import combinations

import pytest
from textual.color import Color
from textual.theme import Theme

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import bundled_dir
from medusa_chat.tui.theme_shelf import ThemeShelf
from medusa_chat.tui.themes import DARK, SIXTEEN, read_theme

GOOD = (bundled_dir("themes") / "medusa-dark.toml").read_text(encoding="utf-8")
SIXTEEN_TEXT = (bundled_dir("themes") / "ansi-16.toml").read_text(encoding="utf-8")

OWN = [read_theme(path) for path in sorted(bundled_dir("themes").glob("*.toml"))]
PLAIN = [theme for theme in OWN if not theme.ansi]
HUES = ("primary", "secondary", "accent", "success", "warning", "error")
GROUNDS = ("background", "surface", "panel")

BAD = [
    ("= nonsense", "not readable as TOML"),
    ("#" * 70_000, "longer than the 64 kB"),
    (GOOD.replace("[colors]", "flavour = 1\n[colors]"), "no use for flavour; it may hold name"),
    (GOOD.replace('"medusa-dark"', '"two words"'), "name is 'two words'; it must be"),
    (GOOD.replace("dark = true", 'dark = "yes"'), "dark must be true or false"),
    (GOOD.replace("dark = true", "ansi = 1"), "ansi must be true or false"),
    (GOOD.replace('primary    = "#7fc8ad"', ""), "must give primary"),
    (GOOD.replace("primary ", "primery ", 1), "must give primary"),
    (GOOD.replace("[variables]", 'glow = "red"\n[variables]'), r"\[colors\] has no use for glow; it holds primary"),
    (GOOD.replace('"#7fc8ad"', '"seaweed"', 1), r"\[colors\] primary is 'seaweed', where a colour such as"),
    (GOOD.replace('"#7fc8ad"', "7", 1), r"\[colors\] primary is 7, where a colour such as"),
    (GOOD.replace('"#7fc8ad"', '"ansi_cyan"', 1), r"\[colors\] primary is 'ansi_cyan', where a colour such as"),
    (
        SIXTEEN_TEXT.replace('"ansi_bright_cyan"', '"#00ffff"', 1),
        "primary is '#00ffff', where a palette colour such as",
    ),
    (GOOD.replace("footer-key-", "footr-key-"), "did you mean footer-key-foreground?"),
    (GOOD + 'block-cursor-text-style = "bolt"', "block-cursor-text-style is 'bolt'; allowed are the words bold"),
    (GOOD.replace("7fc8ad 30%", "7fc8ad much"), "input-selection-background is '#7fc8ad much', where a colour"),
    ('name = "x"', r"needs a table \[colors\] with primary"),
    (GOOD.split("[variables]")[0].replace("[colors]", "variables = 1\n[colors]"), "must be a table of colours"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_a_bad_theme_is_refused_in_one_sentence(tmp_path, text, words):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MedusaError, match=words) as caught:
        read_theme(path)
    assert str(caught.value).endswith((".", "?"))
    shelf = ThemeShelf(tmp_path)
    assert "The theme file bad.toml was left out: " in shelf.look().problems[0]
    assert not shelf.found


def test_a_file_without_a_name_is_called_as_it_is(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(GOOD.replace('name = "medusa-dark"', ""), encoding="utf-8")
    assert read_theme(path).name == "mine"


def test_there_is_one_for_every_need():
    assert len(OWN) >= 8
    assert {theme.dark for theme in PLAIN} == {True, False}
    assert {DARK, SIXTEEN, "contrast-dark", "contrast-light", "colour-safe-dark"} <= {theme.name for theme in OWN}


def luminance(color: Color) -> float:
    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(front: str, back: str) -> float:
    """As WCAG 2 has it, with the front's transparency over that back."""
    ground = Color.parse(back)
    bright, dim = sorted((luminance(ground + Color.parse(front)), luminance(ground)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("theme", PLAIN, ids=lambda theme: theme.name)
def test_every_word_can_be_read_on_every_ground(theme: Theme):
    least = 7 if "contrast" in theme.name else 4.5
    for ground in GROUNDS:
        back = getattr(theme, ground)
        assert contrast(theme.foreground, back) >= 7
        assert contrast(theme.variables["muted"], back) >= least
        for hue in HUES:
            assert contrast(getattr(theme, hue), back) >= least, (hue, ground)
    for words, ground in (
        ("footer-key-foreground", "footer-background"),
        ("footer-description-foreground", "footer-background"),
        ("block-cursor-foreground", "block-cursor-background"),
    ):
        assert contrast(theme.variables[words], theme.variables[ground]) >= least, words


def oklab(color: Color) -> tuple[float, float, float]:
    """Coordinates whose distances agree with the eye's (Björn Ottosson, 2020)."""
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized)
    long, middle, short = (
        (x * r + y * g + z * b) ** (1 / 3)
        for x, y, z in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    )
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def apart(one: Color, other: Color) -> float:
    return sum((x - y) ** 2 for x, y in zip(oklab(one), oklab(other), strict=True)) ** 0.5


@pytest.mark.parametrize("theme", PLAIN, ids=lambda theme: theme.name)
def test_hues_that_mean_something_are_told_apart(theme: Theme):
    hues = {name: Color.parse(getattr(theme, name)) for name in HUES}
    for (one, first), (other, second) in combinations(hues.items(), 2):
        assert apart(first, second) >= 0.05, (one, other)
    for name, hue in hues.items():
        assert apart(hue, Color.parse(theme.background)) >= 0.25, name


@pytest.mark.parametrize("theme", [theme for theme in OWN if theme.ansi], ids=lambda theme: theme.name)
def test_sixteen_colours_are_all_different(theme: Theme):
    assert len({getattr(theme, name) for name in HUES}) == len(HUES)


# Full loss of one kind of cone, on linear RGB (Machado, Oliveira and Fernandes, 2009).
BLINDNESS = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def seen_with(kind: str, color: Color) -> Color:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
    mixed = [sum(x * y for x, y in zip(row, linear, strict=True)) for row in BLINDNESS[kind]]
    encoded = [
        12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in (min(1, max(0, c)) for c in mixed)
    ]
    return Color(*(round(255 * c) for c in encoded))


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("name", ["colour-safe-dark", "colour-safe-light"])
def test_the_colour_safe_themes_are_safe(name, kind):
    theme = next(theme for theme in OWN if theme.name == name)
    hues = {name: seen_with(kind, Color.parse(getattr(theme, name))) for name in HUES}
    for (one, first), (other, second) in combinations(hues.items(), 2):
        assert apart(first, second) >= 0.05, (one, other)
