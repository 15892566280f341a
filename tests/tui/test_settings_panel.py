"""The settings panel: what its keys and clicks do reaches the engine with the next step, and what is wrong is said."""

from __future__ import annotations

from dataclasses import replace

import pytest
from doubles.scripted_engine import LOADED
from textual.widgets import Input

from medusa_chat.engine.options import Decoding, Limits, Sampling
from medusa_chat.host.messages import Adjust, Generate
from medusa_chat.settings import presets
from medusa_chat.settings.own_presets import presets_file
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.chat.status import StatusLine
from medusa_chat.tui.panel.knob_list import KnobList
from medusa_chat.tui.panel.panel import MedusaPanel
from medusa_chat.tui.settings.drawing import value_at
from medusa_chat.tui.settings.explaining import Explained
from medusa_chat.tui.settings.fields import Field
from medusa_chat.tui.settings.panel import SearchLine, SettingsPanel
from medusa_chat.tui.settings.setting_keys import LIST_BINDINGS
from medusa_chat.tui.settings.setting_list import SettingList
from medusa_chat.tui.settings.value_line import ValueLine

TEXT = "The capital of France is Paris, a city on the Seine with a long history and many museums. " * 4


async def opened(chat) -> SettingList:
    await chat.pilot.press("ctrl+s")
    await chat.until(lambda: chat.screen.query(SettingList) and chat.screen.query_one(SettingList).has_focus)
    return chat.screen.query_one(SettingList)


async def goto(chat, label: str) -> None:
    """Moves down to a row, as a person does."""
    rows = chat.screen.query_one(SettingList)
    for _ in range(40):
        if (getattr(rows.row, "label", None) or getattr(rows.row, "name", None)) == label:
            return
        await chat.pilot.press("down")
    raise AssertionError(label)


def said(chat) -> str:
    return str(chat.screen.query_one(Explained).render())


def adjusted(chat) -> Adjust:
    return chat.engine.sent(Adjust)[-1]


CHANGES = [
    ("decoder", "right", {"decoder": "medusa"}, {}),
    ("budget", "l", {"budget": 12}, {}),
    ("heads", "minus", {"heads": 3}, {}),
    ("top-k per head", "plus", {"top_k": 12}, {}),
    ("tree", "right", {"tree": "calibrated"}, {}),
    ("rule", "right", {"rule": "typical"}, {}),
    ("epsilon", "h", {"epsilon": 0.07}, {}),
    ("delta", "right", {"delta": 0.4}, {}),
    ("threshold", "right", {"threshold": 0.12}, {}),
    ("temperature", "right", {}, {"temperature": 0.2}),
    ("top-k", "right", {}, {"top_k": 5}),
    ("top-p", "left", {}, {"top_p": 0.98}),
    ("min-p", "right", {}, {"min_p": 0.01}),
    ("repetition penalty", "right", {}, {"repetition_penalty": 1.05}),
    ("seed", "right", {}, {"seed": 0}),
]


@pytest.mark.parametrize(("label", "key", "decoding", "sampling"), CHANGES, ids=[change[0] for change in CHANGES])
async def test_every_setting_reaches_the_running_answer(open_chat, label, key, decoding, sampling):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await opened(chat)
        await goto(chat, label)
        await chat.pilot.press(key)
        await chat.until(lambda: chat.engine.sent(Adjust))
        assert chat.engine.sent(Adjust) == [Adjust(Decoding(**decoding), Sampling(**sampling))]
        await chat.pilot.press("0")
        await chat.until(lambda: len(chat.engine.sent(Adjust)) == 2)
        assert adjusted(chat) == Adjust(Decoding(), Sampling())


async def test_limits_go_with_the_next_question_and_disturb_no_running_one(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await opened(chat)
        await goto(chat, "max tokens")
        await chat.pilot.press("left")
        await goto(chat, "stop at")
        await chat.pilot.press("right", "enter", *"END", "vertical_line", "backslash", "n", "enter")
        await chat.until(lambda: chat.screen.dialogue.choices.limits.stop)
        assert not chat.engine.sent(Adjust)
        await chat.finish()
        await chat.pilot.press("escape")
        await chat.ask("And of Italy?")
        assert chat.engine.sent(Generate)[-1].limits == Limits(256, ("END", "\n"))


async def test_the_effect_is_seen_while_the_panel_is_open(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        chat.engine.play(4)
        assert chat.screen.query_one(MedusaPanel).display
        rows = await opened(chat)
        await chat.until(lambda: not chat.screen.query_one(MedusaPanel).display)
        await chat.sees("tokens/s", StatusLine)
        await goto(chat, "rule")
        await chat.pilot.press("right")
        await chat.sees("typical, lossy", StatusLine)
        await chat.until(lambda: "typical, lossy" in chat.shown(rows))
        await chat.until(lambda: "! lossy" in said(chat))
        await chat.pilot.resize_terminal(200, 50)
        await chat.until(lambda: chat.screen.query_one(MedusaPanel).display)
        await chat.sees("typical, lossy", KnobList)


@pytest.mark.parametrize("size", [(40, 12), (60, 24), (80, 24), (104, 40), (200, 60)])
async def test_a_lossy_rule_says_so_in_every_width(open_chat, size):
    async with open_chat(TEXT, size=size) as chat:
        rows = await opened(chat)
        await chat.pilot.press("f4", "f4")
        await chat.until(lambda: "threshold, lossy" in chat.shown(rows))


async def test_function_keys_and_panel_are_always_the_same(open_chat):
    async with open_chat(TEXT, size=(200, 50)) as chat:
        rows = await opened(chat)
        await chat.pilot.press("f5", "f4")
        await chat.until(lambda: "‹ 12 ›" in chat.shown(rows) and "typical, lossy" in chat.shown(rows))
        await goto(chat, "top-k per head")
        await chat.pilot.press("left")
        await chat.until(lambda: "top-k       8" in chat.shown(chat.screen.query_one(KnobList)))


async def test_what_does_not_count_is_in_brackets_and_says_why(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await goto(chat, "epsilon")
        await chat.until(lambda: "(0.09)" in chat.shown(rows))
        await chat.until(lambda: "The lossless rule has no epsilon; F4 changes the rule." in said(chat))
        await chat.pilot.press("f4")
        await chat.until(lambda: "no epsilon" not in said(chat))
        lines = [line for line in chat.shown(rows).splitlines() if "epsilon" in line]
        assert "(" not in lines[0]


async def test_what_differs_from_the_program_s_own_is_marked(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await chat.pilot.press("f5")
        await chat.until(lambda: "• budget" in chat.shown(rows))
        await goto(chat, "budget")
        await chat.until(lambda: "Default: auto 8, 0 sets it." in said(chat))
        await chat.pilot.press("R")
        await chat.until(lambda: "•" not in chat.shown(rows))


async def test_a_value_can_be_typed(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        rows = await opened(chat)
        await goto(chat, "budget")
        await chat.pilot.press("enter", *"37", "enter")
        await chat.until(lambda: chat.engine.sent(Adjust))
        assert adjusted(chat).decoding == Decoding(budget=37)
        await chat.until(lambda: rows.has_focus and "‹ 37 ›" in chat.shown(rows))
        await chat.pilot.press("enter", "end", "9", "escape")
        await chat.until(lambda: rows.has_focus)
        assert len(chat.engine.sent(Adjust)) == 1


async def test_a_wrong_value_is_explained_and_kept_for_mending(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await opened(chat)
        await goto(chat, "budget")
        await chat.pilot.press("enter", *"900", "enter")
        await chat.until(lambda: "✗ budget is 900; it must be between 1 and 256." in said(chat))
        line = chat.screen.query_one(ValueLine)
        assert line.value == "900"
        assert line.has_focus
        await chat.pilot.press("backspace")
        await chat.until(lambda: "✗" not in said(chat))
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.sent(Adjust))
        assert adjusted(chat).decoding == Decoding(budget=90)


WRONG = [
    ("decoder", "draft", "decoder is draft; it must be one of"),
    ("heads", "9", "heads is 9, but this model has 4"),
    ("epsilon", "2", "epsilon is 2.0; it must be above 0 and at most 1"),
    ("temperature", "[red]hot", "temperature is '[red]hot'; it must be a number"),
    ("seed", "-3", "seed is -3; it must be between 0 and"),
    ("max tokens", "1.5", "max tokens is '1.5'; it must be a whole number"),
]


@pytest.mark.parametrize(("label", "text", "message"), WRONG)
async def test_each_kind_of_wrong_value(open_chat, label, text, message):
    async with open_chat(TEXT) as chat:
        await opened(chat)
        await goto(chat, label)
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        chat.screen.query_one(ValueLine).value = text
        await chat.pilot.press("enter")
        await chat.until(lambda: message in said(chat))
        assert chat.screen.dialogue.choices.decoding == Decoding()


async def test_what_a_model_without_heads_cannot_follow(open_chat):
    async with open_chat(TEXT, loaded=replace(LOADED, heads=0)) as chat:
        rows = await opened(chat)
        await goto(chat, "decoder")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        await chat.pilot.press(*"med", "enter")
        await chat.until(lambda: "needs heads and this model has none" in said(chat))
        await chat.pilot.press("escape")
        await goto(chat, "heads")
        await chat.until(lambda: "This model has no heads." in said(chat))
        assert "(none)" in chat.shown(rows)


async def test_search_leaves_what_has_the_words(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await chat.pilot.press("slash", *"likeliest prob")
        found = ["Sampling", "top-p", "min-p"]
        await chat.until(lambda: [line.split("‹")[0].strip(" •") for line in chat.shown(rows).splitlines()] == found)
        await chat.pilot.press("enter", "left")
        await chat.until(lambda: chat.screen.dialogue.choices.sampling.top_p == 0.98)
        await chat.pilot.press("slash", *"xyz")
        await chat.until(lambda: "Nothing has these words" in said(chat))
        await chat.pilot.press("escape")
        await chat.until(lambda: "Drafting" in chat.shown(rows) and rows.has_focus)


async def test_saving_out_of_a_search_shows_all_rows_and_says_so_in_the_search_line(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        search = chat.screen.query_one(SearchLine)
        await chat.pilot.press("f5", "slash", *"temp", "enter")
        await chat.until(lambda: rows.has_focus and "budget" not in chat.shown(rows))
        await chat.pilot.press("S")
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        await chat.until(lambda: search.value == "" and "budget" in chat.shown(rows))
        await chat.pilot.press(*"night", "enter")
        await chat.until(lambda: "✓ night" in chat.shown(rows) and rows.has_focus)
        assert search.value == ""
        assert "budget" in chat.shown(rows)


async def test_letters_that_mean_nothing_here_go_nowhere(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await chat.pilot.press("x", "d", "q")
        assert rows.has_focus
        assert chat.composer.text == ""


# Presets.


async def test_a_preset_is_applied_with_enter_and_marked(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        rows = await opened(chat)
        await goto(chat, "balanced")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.engine.sent(Adjust))
        balanced = presets.all_presets().find("balanced")
        assert adjusted(chat) == Adjust(balanced.decoding, balanced.sampling)
        await chat.until(lambda: "✓ balanced" in chat.shown(rows))
        assert "✓ exact" not in chat.shown(rows)
        await chat.pilot.press("f5")
        await chat.until(lambda: "✓" not in chat.shown(rows))


async def test_every_lossy_preset_says_so(open_chat):
    async with open_chat(TEXT, size=(120, 50)) as chat:
        rows = await opened(chat)
        lines = {line.split()[-2]: line.split()[-1] for line in chat.shown(rows).splitlines()[1:7]}
        assert lines == {each.name: "lossy" if each.lossy else "lossless" for each in presets.BUILT_IN}


async def test_a_preset_for_more_heads_than_there_are(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await goto(chat, "aggressive")
        await chat.pilot.press("enter")
        await chat.until(lambda: "heads is 5, but this model has 4" in said(chat))
        assert chat.screen.dialogue.choices.decoding.heads is None
        assert "✓ aggressive" in chat.shown(rows)


async def test_own_presets_are_saved_applied_and_deleted(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await chat.pilot.press("f5", "S")
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        await chat.pilot.press(*"night", "enter")
        await chat.until(lambda: "✓ night" in chat.shown(rows))
        assert presets.all_presets().find("night").decoding == Decoding(budget=12)
        await chat.pilot.press("R")
        await chat.until(lambda: "✓ exact" in chat.shown(rows))
        await goto(chat, "night")
        await chat.pilot.press("enter")
        await chat.until(lambda: chat.screen.dialogue.choices.decoding.budget == 12)
        await chat.pilot.press("d")
        await chat.until(lambda: "Press d once more to delete the preset night." in said(chat))
        await chat.pilot.press("up", "down", "d")
        assert "night" in presets.all_presets().names
        await chat.pilot.press("d")
        await chat.until(lambda: "night" not in chat.shown(rows))
        assert "night" not in presets.all_presets().names


@pytest.mark.parametrize(
    ("name", "message"), [("exact", "is a preset of the program"), ("a/b", "cannot name a preset"), ("", "cannot name")]
)
async def test_a_wrong_name_is_explained_and_kept_for_mending(open_chat, name, message):
    async with open_chat(TEXT) as chat:
        await opened(chat)
        await chat.pilot.press("S")
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        chat.screen.query_one(ValueLine).value = name
        await chat.pilot.press("enter")
        await chat.until(lambda: message in said(chat))
        assert chat.screen.query_one(ValueLine).has_focus
        assert not presets_file().exists()


async def test_a_wrong_preset_of_one_s_own_is_told_and_the_others_work(open_chat):
    presets_file().write_text("[mine.decoding]\nbudget = 0\n[good]\n", encoding="utf-8")
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await chat.until(lambda: any("budget is 0" in toast for toast in chat.toasts))
        await chat.until(lambda: "good" in chat.shown(rows))


async def test_a_file_that_cannot_be_written_is_told(open_chat):
    presets_file().write_text("[broken", encoding="utf-8")
    async with open_chat(TEXT) as chat:
        await opened(chat)
        await chat.pilot.press("S")
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        await chat.pilot.press(*"night", "enter")
        await chat.until(lambda: "is not readable as TOML" in " ".join(said(chat).split()))


async def test_presets_are_in_the_palette(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await chat.find("preset: creat", "creative")
        await chat.until(lambda: chat.engine.sent(Adjust))
        creative = presets.all_presets().find("creative")
        assert adjusted(chat) == Adjust(creative.decoding, creative.sampling)
        await chat.until(lambda: any(toast.startswith("creative: joint") for toast in chat.toasts))


# Where it stands, and the mouse.


async def test_the_key_opens_leads_there_and_closes(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.composer.has_focus)
        assert chat.screen.query_one(SettingsPanel).display
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: rows.has_focus)
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: not chat.screen.query_one(SettingsPanel).display)
        assert chat.composer.has_focus
        assert chat.screen.query_one(MedusaPanel).display


async def test_escape_here_stops_no_answer(open_chat):
    async with open_chat(TEXT) as chat:
        await chat.ask()
        await opened(chat)
        await chat.pilot.press("escape")
        await chat.until(lambda: chat.composer.has_focus)
        assert chat.screen.dialogue.busy


async def test_each_panel_takes_the_other_s_place_where_there_is_no_room_for_both(open_chat):
    async with open_chat(TEXT, size=(120, 40)) as chat:
        await opened(chat)
        settings, medusa = chat.screen.query_one(SettingsPanel), chat.screen.query_one(MedusaPanel)
        assert (settings.display, medusa.display) == (True, False)
        await chat.pilot.press("ctrl+t")
        await chat.until(lambda: (settings.display, medusa.display) == (False, True))
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: (settings.display, medusa.display) == (True, False))
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: (settings.display, medusa.display) == (False, True))


async def test_on_a_tiny_screen_it_takes_the_whole_width(open_chat):
    async with open_chat(TEXT, size=(40, 12)) as chat:
        await opened(chat)
        assert chat.screen.query_one(SettingsPanel).size.width >= 36
        await chat.pilot.press("escape")
        await chat.until(lambda: not chat.screen.query_one(SettingsPanel).display)
        assert chat.composer.has_focus
        assert chat.composer.region.height >= 3


async def test_the_cursor_stays_in_view(open_chat):
    async with open_chat(TEXT, size=(80, 24)) as chat:
        rows = await opened(chat)
        for key, label in (("G", "heads in use"), ("g", "exact"), ("up", "heads in use"), ("down", "exact")):
            await chat.pilot.press(key)
            row = rows.row
            assert (getattr(row, "label", None) or row.name) == label
            view = rows.parent
            await chat.until(lambda view=view: rows.region.y + rows._cursor in range(view.region.y, view.region.bottom))


async def click(chat, label: str, x: int, times: int = 1) -> None:
    rows = chat.screen.query_one(SettingList)
    at = next(at for at, line in enumerate(chat.shown(rows).splitlines()) if line.strip(" •✓").startswith(label))
    await chat.pilot.click(SettingList, offset=(x, at), times=times)


async def test_the_mouse_selects_and_steps(open_chat):
    async with open_chat(TEXT, size=(120, 50)) as chat:
        rows = await opened(chat)
        await click(chat, "budget", 4)
        await chat.until(lambda: isinstance(rows.row, Field) and rows.row.label == "budget")
        assert chat.screen.dialogue.choices.decoding.budget is None
        await click(chat, "budget", value_at(rows.size.width))
        await chat.until(lambda: chat.screen.dialogue.choices.decoding.budget == 6)
        await click(chat, "budget", value_at(rows.size.width) + 4)
        await chat.until(lambda: chat.screen.dialogue.choices.decoding.budget == 8)
        await click(chat, "Sampling", 3)
        assert rows.row.label == "budget"
        await click(chat, "heads", 3)
        await click(chat, "heads", 3)
        await chat.until(lambda: chat.screen.query_one(ValueLine).has_focus)
        await click(chat, "creative", 3)
        await chat.until(lambda: not chat.screen.query_one(ValueLine).display)
        await click(chat, "creative", 3)
        await chat.until(lambda: chat.screen.dialogue.choices.sampling.temperature == 0.8)


async def test_every_key_of_the_list_has_an_id_and_words(open_chat):
    ids = [binding.id for binding in LIST_BINDINGS]
    assert len(set(ids)) == len(ids)
    assert all(binding.tooltip for binding in LIST_BINDINGS)
    async with open_chat(TEXT) as chat:
        await opened(chat)
        await goto(chat, "budget")
        helps = {command.help for command in chat.app.get_system_commands(chat.screen)}
        assert {binding.tooltip for binding in LIST_BINDINGS if binding.id != "setting.delete"} <= helps


async def test_typing_goes_to_one_place_at_a_time(open_chat):
    async with open_chat(TEXT) as chat:
        rows = await opened(chat)
        await goto(chat, "decoder")
        await chat.pilot.press("enter", "down", "S", "R", "d", "0", "slash")
        await chat.until(lambda: chat.screen.query_one(ValueLine).value == "SRd0/")
        assert rows.row.label == "decoder"
        assert chat.screen.query_one(SearchLine).value == ""
        assert not chat.screen.query_one(Composer).text
        assert all(line.value in ("", "SRd0/") for line in chat.screen.query(Input))
