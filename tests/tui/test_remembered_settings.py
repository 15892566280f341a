"""Settings and panels come back at the next start; a wrong file is told and never stops the app."""

from __future__ import annotations

import pytest
from doubles.scripted_engine import ScriptedEngine
from doubles.waiting import until

from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.messages import Generate
from medusa_chat.settings.preferences import Remembered, preferences_file, remember, remembered
from medusa_chat.settings.presets import all_presets
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.panel.panel import MedusaPanel
from medusa_chat.tui.settings.panel import SettingsPanel


async def test_what_was_chosen_goes_with_the_first_question_of_the_next_start(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("f5", "f9", "f4")
    async with open_chat() as chat:
        await chat.ask()
        request = chat.engine.sent(Generate)[0]
        assert request.decoding == Decoding(budget=12, rule="typical")
        assert request.sampling == Sampling(temperature=0.2)


async def test_a_change_is_written_while_the_app_runs(open_chat):
    async with open_chat() as chat:
        await chat.pilot.press("f5")
        await chat.until(lambda: "budget = 12" in _file())


async def test_nothing_is_written_where_nothing_was_chosen(open_chat):
    async with open_chat() as chat:
        await chat.ask()
    assert not preferences_file().exists()


async def test_limits_are_remembered(open_chat):
    remember(Remembered(limits=Limits(77, ("END",))))
    async with open_chat() as chat:
        await chat.ask()
        assert chat.engine.sent(Generate)[0].limits == Limits(77, ("END",))


async def test_panels_are_shown_as_they_were_left(open_chat):
    async with open_chat(size=(180, 50)) as chat:
        await chat.pilot.press("ctrl+t", "ctrl+s")
        await chat.until(lambda: chat.screen.query(SettingsPanel) and chat.screen.query_one(SettingsPanel).display)
    async with open_chat(size=(180, 50)) as chat:
        await chat.until(lambda: chat.screen.query(SettingsPanel) and chat.screen.query_one(SettingsPanel).display)
        await chat.until(lambda: not chat.screen.query_one(MedusaPanel).display)
        assert chat.composer.has_focus
        await chat.pilot.press("ctrl+t", "ctrl+s", "ctrl+s")
        await chat.until(lambda: not chat.screen.query_one(SettingsPanel).display)
    assert remembered()[0].panels == {"medusa": True, "settings": False}


async def test_on_a_tiny_screen_the_settings_do_not_cover_the_chat_at_the_start(open_chat):
    remember(Remembered(panels={"settings": True}))
    async with open_chat(size=(40, 12)) as chat:
        assert not any(panel.display for panel in chat.screen.query(SettingsPanel))
        assert chat.composer.region.height >= 3


async def test_what_a_model_cannot_follow_stays_remembered(open_chat):
    remember(Remembered(decoding=Decoding("medusa", heads=5)))
    async with open_chat() as chat:
        await chat.ask()
        assert chat.engine.sent(Generate)[0].decoding == Decoding("medusa")
    assert remembered()[0].decoding == Decoding("medusa", heads=5)


async def test_a_preset_for_this_start_takes_the_place_of_what_is_remembered():
    remember(Remembered(decoding=Decoding(budget=3), limits=Limits(77)))
    creative = all_presets().find("creative")
    app = MedusaChatApp(ScriptedEngine("Paris."), "tiny", preset=creative)
    async with app.run_test() as pilot:
        await until(pilot, lambda: app.chat.dialogue.loaded is not None)
        choices = app.screen.dialogue.choices
        assert (choices.decoding, choices.sampling) == (creative.decoding, creative.sampling)
        assert choices.limits == Limits(77)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[decoding]\nheads = 2\nbudget = 0\n", "budget is 0; it must be between 1 and 256"),
        ("[decoding]\nheads = 2\n[sampling]\ntemprature = 1\n", "there is no temprature; did you mean temperature?"),
    ],
)
async def test_a_wrong_key_is_told_and_the_others_count(open_chat, text, message):
    preferences_file().write_text(text, encoding="utf-8")
    async with open_chat() as chat:
        await chat.until(lambda: any(message in toast and "preferences.toml" in toast for toast in chat.toasts))
        assert chat.screen.dialogue.choices.decoding == Decoding(heads=2)


async def test_a_broken_file_is_told_and_left_alone(open_chat):
    preferences_file().write_text("[decoding\n", encoding="utf-8")
    async with open_chat() as chat:
        await chat.until(lambda: any("is not readable as TOML" in toast for toast in chat.toasts))
        await chat.pilot.press("f5")
        await chat.ask()
        assert chat.engine.sent(Generate)[0].decoding == Decoding(budget=12)
    assert _file() == "[decoding\n"


def _file() -> str:
    return preferences_file().read_text(encoding="utf-8") if preferences_file().exists() else ""
