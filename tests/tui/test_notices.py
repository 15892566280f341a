"""Notices say something at the edge of the screen; what a person is typing stays in view."""

from __future__ import annotations

import pytest
from textual.widgets._toast import Toast

from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.chat.status import StatusLine

LONG = "What was asked for cannot be done just now; these words, which take some rows, say what helps instead."


@pytest.fixture(autouse=True)
def _shown(monkeypatch):
    """Textual leaves them out in a test unless they are asked for."""
    run = MedusaChatApp.run_test
    monkeypatch.setattr(MedusaChatApp, "run_test", lambda app, **options: run(app, notifications=True, **options))


def toasts(chat) -> list[Toast]:
    return [toast for toast in chat.screen.query(Toast) if toast.region]


@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40)])
async def test_a_notice_covers_neither_composer_nor_status(open_chat, size):
    async with open_chat(size=size) as chat:
        chat.app.notify(LONG, timeout=1000)
        await chat.until(lambda: toasts(chat))
        for key in ("a", "ctrl+j", "ctrl+j"):
            await chat.pilot.press(key)
        await chat.until(lambda: chat.composer.size.height == 3)
        await chat.until(lambda: toasts(chat)[0].region.bottom <= chat.screen.query_one(StatusLine).region.y)
        assert toasts(chat)[0].region.y >= 0


async def test_on_a_small_screen_a_notice_has_all_its_words_and_few_rows(open_chat):
    async with open_chat(size=(40, 12)) as chat:
        chat.app.notify(LONG, timeout=1000)
        await chat.until(lambda: toasts(chat) and toasts(chat)[0].size.width >= 36)
        assert toasts(chat)[0].region.height <= 4
        rows = "\n".join(strip.text for strip in chat.screen._compositor.render_strips())
        assert "instead." in rows


async def test_what_is_said_again_is_not_shown_twice(open_chat):
    async with open_chat() as chat:
        for _ in range(3):
            chat.app.notify("No answer is being written just now.", timeout=1000)
            await chat.pilot.pause()
        chat.app.notify("Something else.", timeout=1000)
        await chat.until(lambda: "Something else." in [toast._notification.message for toast in toasts(chat)])
        assert [toast._notification.message for toast in toasts(chat)] == [
            "No answer is being written just now.",
            "Something else.",
        ]


async def test_warnings_and_errors_are_told_apart_without_colours(open_chat):
    async with open_chat() as chat:
        for severity in ("information", "warning", "error"):
            chat.app.notify(f"Of severity {severity}.", severity=severity, timeout=1000)
        await chat.until(lambda: len(toasts(chat)) == 3)
        said = [toast._notification.message for toast in toasts(chat)]
        assert said == ["Of severity information.", "! Of severity warning.", "✗ Of severity error."]
