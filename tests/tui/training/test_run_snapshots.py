"""How a followed run looks: four sizes, a dark and a light theme, and without colours."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from doubles.scripted_engine import ScriptedEngine
from doubles.training_runs import begun, rows, write
from textual.pilot import Pilot

from medusa_chat.tui.app import MedusaChatApp
from medusa_chat.tui.training.following import Following
from medusa_chat.tui.training.screen import RunScreen


@pytest.mark.parametrize("theme", ["medusa-dark", "medusa-light"])
@pytest.mark.parametrize("size", [(40, 12), (80, 24), (120, 40), (200, 60)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_run(snap_compare, run, size, theme):
    app, follow = run(theme, "medusa2")
    assert snap_compare(app, terminal_size=size, run_before=follow)


def test_without_colours(snap_compare, run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    app, follow = run(None, "medusa1")
    assert snap_compare(app, terminal_size=(80, 24), run_before=follow)


def test_before_the_first_step(snap_compare, run):
    app, follow = run("medusa-dark", "medusa1", to=0)
    assert snap_compare(app, terminal_size=(80, 24), run_before=follow)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The app, and a run that is followed in it; its folder has the same name everywhere."""
    monkeypatch.chdir(tmp_path)

    def made(
        theme: str | None, method: str, to: int = 700
    ) -> tuple[MedusaChatApp, Callable[[Pilot[None]], Awaitable[None]]]:
        folder = begun(Path("runs/first"), method)
        write(folder, rows(to, kl=method == "medusa2"))
        app = MedusaChatApp(ScriptedEngine("Paris."), "tiny", theme=theme)
        app.animation_level = "none"

        async def follow(pilot: Pilot[None]) -> None:
            for _ in range(400):
                if app.screen_stack and app.chat.dialogue.loaded is not None:
                    break
                await pilot.pause(0.01)
            screen = RunScreen(Following.begin(folder))
            await app.push_screen(screen)
            for _ in range(400):
                if screen.settled and str(screen.query_one("#asked").render()):
                    break
                await pilot.pause(0.01)
            await pilot.pause(0.2)

        return app, follow

    return made
