"""How a followed run looks: four sizes, a dark and a light theme, and without colours."""

from __future__ import annotations

from pathlib import Path

import pytest
from doubles.chat import Chat
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE
from doubles.training_runs import begun, rows, write

from medusa_chat.tui.training.following import Following
from medusa_chat.tui.training.screen import RunScreen


@DARK_AND_LIGHT
@EVERY_SIZE
def test_run(looks_as_kept, run, size, theme):
    assert looks_as_kept(run("medusa2"), size=size, theme=theme, model="tiny")


def test_without_colours(looks_as_kept, run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert looks_as_kept(run("medusa1"), size=(80, 24), theme=None, model="tiny")


def test_before_the_first_step(looks_as_kept, run):
    assert looks_as_kept(run("medusa1", to=0), size=(80, 24), theme="medusa-dark", model="tiny")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """How a run is followed; its folder has the same name everywhere."""
    monkeypatch.chdir(tmp_path)

    def made(method: str, to: int = 700):
        folder = begun(Path("runs/first"), method)
        write(folder, rows(to, kl=method == "medusa2"))

        async def follow(chat: Chat) -> None:
            screen = RunScreen(Following.begin(folder))
            await chat.app.push_screen(screen)
            await chat.until(lambda: screen.settled and str(screen.query_one("#asked").render()))

        return follow

    return made
