"""How learning from use looks: its rows after two lessons, at four sizes in a dark and a light theme, and a private
conversation at the side."""

from __future__ import annotations

import json

import pytest
from doubles.lessons import BETTER
from doubles.scripted_engine import ScriptedEngine
from textual.pilot import Pilot

from medusa_chat.settings.learning import Learning, prefer_learning
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.learning.knowledge import LESSONS
from medusa_chat.tui.settings.setting_list import SettingList


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_learning(snap_compare, store, size, theme):
    prefer_learning(Learning(True, 0.25))
    (store / "learned").mkdir()
    (store / LESSONS).write_text(json.dumps(BETTER) + "\n")
    app = MedusaChatApp(ScriptedEngine("Paris."), "tiny", theme=theme)
    app.animation_level = "none"

    async def look(pilot: Pilot[None]) -> None:
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        await until(lambda: app.screen.query(Composer) and app.chat._learnt.own)
        app.screen.query_one(Composer).cursor_blink = False
        await pilot.press("ctrl+s")
        await until(lambda: app.screen.query(SettingList) and app.screen.query_one(SettingList).has_focus)
        await pilot.press("G", "up")
        await pilot.pause(0.2)

    assert snap_compare(app, terminal_size=size, run_before=look)
