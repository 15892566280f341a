"""The model chosen in the app is there again at the next start."""

from __future__ import annotations

import pytest
from doubles.model_cards import make_here
from doubles.scripted_engine import ScriptedEngine

from medusa_chat.catalog import DEFAULT_MODEL
from medusa_chat.host import client
from medusa_chat.host.messages import Load
from medusa_chat.settings.preferences import preferences_file
from medusa_chat.tui import launch as launching
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.first_model import first_model, prefer_model


async def test_a_model_loaded_in_the_app_is_the_first_at_the_next_start(open_models, cards):
    make_here(cards.small)
    async with open_models() as models:
        await models.mark(cards.small.name)
        await models.press("enter")
        await models.chat.until(lambda: Load in [type(request) for request in models.chat.engine.requests[1:]])
        await models.chat.until(lambda: first_model() == (cards.small.name, None))


def test_the_rest_of_the_file_stays_and_the_model_can_be_the_usual_one_again(cards):
    make_here(cards.small)
    preferences_file().write_text('# mine\ntheme = "ember"\n\n[limits]\nmax_tokens = 9\n', encoding="utf-8")
    prefer_model(cards.small.name, "auto")
    assert first_model() == (cards.small.name, None)
    prefer_model(DEFAULT_MODEL, "auto")
    assert first_model() == (DEFAULT_MODEL, None)
    text = preferences_file().read_text("utf-8")
    assert text.startswith('# mine\ntheme = "ember"\n')
    assert "max_tokens = 9" in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('model = "small"', "The model chosen last, small, is no longer on this machine"),
        ('model = "no-such-model"', "The model chosen last, no-such-model, is no longer on this machine"),
        ("model = 3", "model is 3; it must be a name in quotes"),
    ],
)
def test_a_model_that_is_gone_is_said_in_one_sentence(cards, line, words):
    preferences_file().write_text(line, encoding="utf-8")
    name, notice = first_model()
    assert name == DEFAULT_MODEL
    assert words in notice


@pytest.mark.parametrize("text", ["model = ", "theme = [" * 3])
def test_a_file_that_is_no_toml_is_told_by_who_reads_the_theme(text):
    preferences_file().write_text(text, encoding="utf-8")
    assert first_model() == (DEFAULT_MODEL, None)


@pytest.mark.parametrize(("named", "first"), [("other", "other"), (None, DEFAULT_MODEL)])
def test_a_named_model_wins_and_what_is_gone_is_said_on_the_screen(monkeypatch, named, first):
    preferences_file().write_text('model = "gone"', encoding="utf-8")
    engine, toasts = ScriptedEngine("Paris."), []
    monkeypatch.setattr(client, "EngineClient", lambda: engine)
    monkeypatch.setattr(launching.sys, "stdin", Terminal())
    monkeypatch.setattr(launching.sys, "stdout", Terminal())

    def run(app: MedusaChatApp) -> None:
        async def leave(pilot):
            await pilot.pause()
            toasts.extend(notification.message for notification in app._notifications)
            app.exit()

        import asyncio

        asyncio.run(app.run_async(headless=True, auto_pilot=leave))

    monkeypatch.setattr(MedusaChatApp, "run", run)
    launching.launch(named)
    assert engine.sent(Load)[0].model == first
    assert any("gone, is no longer on this machine" in toast for toast in toasts) == (named is None)


class Terminal:
    def isatty(self) -> bool:
        return True
