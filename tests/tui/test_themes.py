"""Themes are files a person may write, so they may be wrong."""

from __future__ import annotations

import pytest
from textual.color import Color

from medusa_chat.engine.errors import MedusaError
from medusa_chat.settings.paths import bundled_dir
from medusa_chat.tui.themes import DARK, LIGHT, load_themes, read_theme, user_folder

GOOD = (bundled_dir("themes") / "medusa-dark.toml").read_text(encoding="utf-8")

BAD = [
    ("= nonsense", "not readable as TOML"),
    (GOOD.replace("[colors]", "flavour = 1\n[colors]"), "no use for flavour"),
    (GOOD.replace("dark = true", 'dark = "yes"'), "dark true or false"),
    (GOOD.replace('primary    = "#7fc8ad"', ""), "must give primary"),
    (GOOD.replace('"#7fc8ad"', '"seaweed"', 1), "no colour"),
    ('name = "x"', "must give"),
]


@pytest.mark.parametrize(("text", "words"), BAD)
def test_a_bad_theme_is_refused_in_one_sentence(tmp_path, text, words):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(MedusaError, match=words) as caught:
        read_theme(path)
    assert str(caught.value).endswith(".")
    themes = load_themes(tmp_path)
    assert not themes.found
    assert "bad.toml" in themes.problems[0]


@pytest.mark.parametrize("name", [DARK, LIGHT])
def test_own_themes_can_be_read_by_everyone(name):
    """WCAG contrast of text, and of the colours that carry meaning, on each background they appear on."""
    theme = load_themes().found[name]

    def luminance(color: Color) -> float:
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in color.normalized]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(front: str, back: str) -> float:
        bright, dim = sorted((luminance(Color.parse(front)), luminance(Color.parse(back))), reverse=True)
        return (bright + 0.05) / (dim + 0.05)

    for back in (theme.background, theme.surface):
        assert contrast(theme.foreground, back) >= 7
        for front in (theme.primary, theme.secondary, theme.accent, theme.warning, theme.error):
            assert contrast(front, back) >= 4.5


async def test_a_person_s_theme_is_offered_and_a_broken_one_is_told(open_chat):
    user_folder().mkdir(parents=True)
    (user_folder() / "mine.toml").write_text(GOOD.replace("medusa-dark", "mine"), encoding="utf-8")
    (user_folder() / "broken.toml").write_text("[", encoding="utf-8")
    async with open_chat(theme="mine") as chat:
        assert chat.app.theme == "mine"
        assert any("broken.toml" in toast for toast in chat.toasts)


async def test_an_unknown_theme_falls_back_and_says_which_there_are(open_chat):
    async with open_chat(theme="[/nope]") as chat:
        assert chat.app.theme == DARK
        assert any("[/nope]" in toast and LIGHT in toast for toast in chat.toasts)
