"""How learning from use looks: its rows after two lessons, at four sizes in a dark and a light theme, and a private
conversation at the side."""

from __future__ import annotations

import json

from doubles.chat import Chat
from doubles.lessons import BETTER
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE

from medusa_chat.settings.learning import Learning, prefer_learning
from medusa_chat.tui.learning.knowledge import LESSONS
from medusa_chat.tui.settings.setting_list import SettingList


@DARK_AND_LIGHT
@EVERY_SIZE
def test_learning(looks_as_kept, store, size, theme):
    prefer_learning(Learning(True, 0.25))
    (store / "learned").mkdir()
    (store / LESSONS).write_text(json.dumps(BETTER) + "\n")

    async def look(chat: Chat) -> None:
        await chat.until(lambda: chat.screen._learnt.own)
        await chat.pilot.press("ctrl+s")
        await chat.until(lambda: chat.screen.query_one(SettingList).has_focus)
        await chat.pilot.press("G", "up")

    assert looks_as_kept(look, size=size, theme=theme, model="tiny")
