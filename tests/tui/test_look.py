"""Which theme is worn, and how it changes while the app runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.segment import Segment
from textual.theme import Theme
from textual.widget import Widget

from medusa_chat.settings.paths import bundled_dir
from medusa_chat.settings.preferences import prefer_theme, preferences_file, preferred_theme
from medusa_chat.tui.chat.help import HelpScreen
from medusa_chat.tui.look import user_folder
from medusa_chat.tui.panel.knob_list import KnobList
from medusa_chat.tui.panel.tree import TreeView
from medusa_chat.tui.theme_picker import ThemeList, ThemePicker
from medusa_chat.tui.themes import DARK, SIXTEEN

GOOD = (bundled_dir("themes") / "medusa-dark.toml").read_text(encoding="utf-8")
NAMES = sorted(path.stem for path in bundled_dir("themes").glob("*.toml"))
TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums."


def user_file(name: str, text: str) -> Path:
    user_folder().mkdir(parents=True, exist_ok=True)
    path = user_folder() / name
    path.write_text(text, encoding="utf-8")
    return path


async def test_a_person_s_theme_is_offered_and_a_broken_one_is_told(open_chat):
    user_file("mine.toml", GOOD.replace("medusa-dark", "mine"))
    user_file("broken.toml", "[")
    async with open_chat(theme="mine") as chat:
        assert chat.app.theme == "mine"
        assert any("broken.toml" in toast for toast in chat.toasts)


async def test_a_person_s_theme_may_stand_for_one_of_the_program(open_chat):
    user_file("mine.toml", GOOD.replace("#e3bd78", "#00ff00"))
    async with open_chat() as chat:
        assert chat.app.theme == DARK
        assert chat.app.current_theme.accent == "#00ff00"


async def test_an_unknown_theme_falls_back_and_says_which_there_are(open_chat):
    async with open_chat(theme="[/nope]\x1b[31m") as chat:
        assert chat.app.theme == DARK
        assert any("[/nope]␛[31m; these are here: ansi-16, " in toast for toast in chat.toasts)


async def test_what_was_chosen_is_worn_next_time_unless_another_is_asked_for(open_chat):
    prefer_theme("fjord")
    async with open_chat() as chat:
        assert chat.app.theme == "fjord"
    async with open_chat(theme="paper") as chat:
        assert chat.app.theme == "paper"
    assert preferred_theme() == "fjord"


@pytest.mark.parametrize(("text", "words"), [("theme = [", "not readable"), ('theme = "gone"', "no theme gone")])
async def test_bad_preferences_are_told_and_do_not_stop_the_app(open_chat, text, words):
    preferences_file().write_text(text, encoding="utf-8")
    async with open_chat() as chat:
        assert chat.app.theme == DARK
        assert any(words in toast for toast in chat.toasts)


async def test_an_edited_theme_is_worn_at_once_and_half_an_edit_is_not(open_chat):
    path = user_file("mine.toml", GOOD.replace("medusa-dark", "mine"))
    async with open_chat(theme="mine") as chat:
        seen: list[Theme] = []
        chat.app.theme_changed_signal.subscribe(chat.screen, seen.append)
        path.write_text(GOOD.replace("medusa-dark", "mine").replace("#10171a", "#201018"), encoding="utf-8")
        await chat.until(lambda: chat.screen.styles.background.hex == "#201018")
        assert [theme.name for theme in seen] == ["mine"]
        path.write_text("[colors", encoding="utf-8")
        await chat.until(lambda: any("mine.toml is wrong now, so it stays as it was" in toast for toast in chat.toasts))
        assert chat.screen.styles.background.hex == "#201018"
        told = len(chat.toasts)
        for _ in range(2):
            chat.app.look.watch()
            await chat.pilot.pause()
        assert len(chat.toasts) == told


async def open_picker(chat) -> ThemeList:
    await chat.pilot.press("ctrl+l")
    await chat.until(lambda: isinstance(chat.app.screen, ThemePicker) and chat.app.screen.query(ThemeList))
    names = chat.app.screen.query_one(ThemeList)
    await chat.until(lambda: names.has_focus and names.highlighted is not None)
    return names


async def test_themes_come_and_go_while_the_app_runs(open_chat):
    async with open_chat() as chat:
        path = user_file("new.toml", GOOD.replace("medusa-dark", "z-new"))
        await chat.until(lambda: "z-new" in chat.app.available_themes)
        await open_picker(chat)
        await chat.pilot.press("end", "enter")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.app.theme == "z-new"
        path.unlink()
        await chat.until(lambda: chat.app.theme == DARK)
        assert any("The theme z-new is gone; medusa-dark is worn" in toast for toast in chat.toasts)


async def test_moving_in_the_picker_shows_each_theme_and_enter_keeps_one(open_chat):
    async with open_chat() as chat:
        names = await open_picker(chat)
        assert [option.id for option in names.options] == NAMES
        start = NAMES.index(DARK)
        assert names.highlighted == start
        await chat.pilot.press("j")
        await chat.until(lambda: chat.app.theme == NAMES[start + 1])
        await chat.pilot.press("up", "k")
        await chat.until(lambda: chat.app.theme == NAMES[start - 1])
        await chat.pilot.press("G")
        await chat.until(lambda: chat.app.theme == NAMES[-1])
        assert preferred_theme() is None
        await chat.pilot.press("ctrl+l", "enter")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.app.theme == preferred_theme() == NAMES[-1]


async def test_escape_in_the_picker_brings_the_look_back_and_typed_text_stays(open_chat):
    async with open_chat(theme="paper") as chat:
        chat.composer.text = "half a question"
        await open_picker(chat)
        await chat.pilot.press("home")
        await chat.until(lambda: chat.app.theme == NAMES[0])
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert chat.app.theme == "paper"
        assert preferred_theme() is None
        assert chat.composer.text == "half a question"


async def test_the_palette_leads_to_the_picker(open_chat):
    async with open_chat() as chat:
        commands = {command.title: command for command in chat.app.get_system_commands(chat.screen)}
        commands["Theme"].callback()
        await chat.until(lambda: isinstance(chat.app.screen, ThemePicker))


async def test_a_choice_that_cannot_be_kept_still_holds_and_says_so(open_chat):
    async with open_chat() as chat:
        preferences_file().write_text("= broken", encoding="utf-8")
        await open_picker(chat)
        await chat.pilot.press("home", "enter")
        await chat.until(lambda: any("preferences.toml" in toast for toast in chat.toasts))
        assert chat.app.theme == NAMES[0]


@pytest.mark.parametrize("name", NAMES)
async def test_every_screen_can_wear_every_theme(open_chat, name):
    async with open_chat(TEXT, theme=name) as chat:
        assert chat.app.theme == name
        await chat.ask()
        await chat.finish()
        await chat.pilot.press("f1")
        await chat.until(lambda: isinstance(chat.app.screen, HelpScreen))
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.app.screen is chat.screen)
        assert not chat.toasts


def sent(widget: Widget) -> list[Segment]:
    """What of a widget goes to the terminal."""
    strips = widget.screen._compositor.render_strips()
    region = widget.region
    return [
        segment
        for strip in strips[region.y : region.bottom]
        for segment in strip.crop(region.x, region.right)
        if segment.text.strip()
    ]


async def test_a_terminal_of_sixteen_colours_gets_them(open_chat, monkeypatch):
    monkeypatch.setenv("COLORTERM", "")
    monkeypatch.setenv("TERM", "linux")
    async with open_chat(TEXT) as chat:
        assert chat.app.theme == SIXTEEN
        await chat.ask()
        chat.engine.play(1)
        tree = chat.screen.query_one(TreeView)
        await chat.until(lambda: "✓" in chat.shown(tree))
        colors = {segment.style.color.number for segment in sent(tree)}
        assert 11 in colors
        assert all(segment.style.color.is_system_defined or segment.style.color.is_default for segment in sent(tree))


@pytest.mark.parametrize("theme", [DARK, "paper", SIXTEEN])
async def test_without_colours_the_kept_path_and_the_cursor_are_still_seen(open_chat, monkeypatch, theme):
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_chat(TEXT, theme=theme) as chat:
        await chat.ask()
        chat.engine.play(1)
        tree, knobs = chat.screen.query_one(TreeView), chat.screen.query_one(KnobList)
        await chat.until(lambda: "✓" in chat.shown(tree))
        segments = sent(chat.screen)
        assert {segment.style.bold for segment in sent(tree) if "✓" in segment.text} == {True}
        assert all(segment.style.color.is_default and segment.style.bgcolor.is_default for segment in segments)
        await chat.pilot.press("tab", "tab")
        await chat.until(lambda: knobs.has_focus)
        await chat.until(lambda: sent(knobs)[0].style.reverse)


async def test_without_colours_the_line_a_list_is_at_is_still_seen(open_chat, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with open_chat(theme="ember") as chat:
        names = await open_picker(chat)
        await chat.until(lambda: [one.text for one in sent(names) if one.style.underline][:1] == [f"{'ember':<20}"])
        assert {one.text.strip() for one in sent(names) if one.style.underline} == {"ember", "■"}
