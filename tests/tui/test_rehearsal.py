"""The app over an engine without a model asks until enough was shown, and says whether all of it was."""

from __future__ import annotations

import json

from doubles.waiting import until

from medusa_chat.host.rehearsed import RehearsedEngine
from medusa_chat.tui.chat.composer import Composer
from medusa_chat.tui.rehearsal import RehearsalApp


async def test_it_asks_until_enough_was_shown_and_reports(tmp_path):
    report = tmp_path / "report.json"
    app = RehearsalApp(RehearsedEngine(2000.0, 200), 400, report)
    app.animation_level = "none"
    async with app.run_test(size=(120, 40)) as pilot:
        app.screen.query_one(Composer).text = "Begin."
        await pilot.press("enter")
        await until(pilot, report.exists)
    seen = json.loads(report.read_text())
    assert (seen["answers"], seen["answers_whole"]) == (2, 2)
    assert 400 <= seen["tokens"] < 410
    assert list(seen["memory_bytes"]) == ["80", "240", "400"]
    assert seen["cpu_seconds"] > 0
