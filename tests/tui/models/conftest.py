"""The Models screen over cards of its own and a package index on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from doubles.file_site import Site, running_site
from doubles.model_cards import BIG, GB
from doubles.pull_without_converting import COMMAND
from doubles.wheel_packages import package_of, serve, write_card

from medusa_chat.catalog import pull_queue
from medusa_chat.tui.models import survey
from medusa_chat.tui.models.model_list import ModelList
from medusa_chat.tui.models.screen import ModelsScreen


class Models:
    """What a test needs of the screen."""

    def __init__(self, chat) -> None:
        self.chat = chat

    @property
    def screen(self) -> ModelsScreen:
        screen = next(screen for screen in self.chat.app.screen_stack if isinstance(screen, ModelsScreen))
        assert isinstance(screen, ModelsScreen)
        return screen

    @property
    def marked(self) -> str | None:
        return self.screen.query_one(ModelList).marked

    def text(self, selector: str) -> str:
        widget = self.screen.query_one(selector)
        return self.chat.shown(widget)

    async def press(self, *keys: str) -> None:
        await self.chat.pilot.press(*keys)

    async def sees(self, text: str, selector: str = "#models") -> None:
        try:
            await self.chat.until(lambda: text in self.text(selector))
        except AssertionError:
            raise AssertionError(f"{text!r} is not in\n{self.text(selector)}") from None

    async def mark(self, name: str) -> None:
        await self.chat.until(lambda: self.screen.query_one(ModelList).mark(name))
        await self.chat.until(lambda: self.marked == name)

    def footer(self) -> list[str]:
        """What the footer offers."""
        return [key.description for key in self.screen.query("FooterKey")]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Pip's only index, for pulls that convert nothing."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(pull_queue, "COMMAND", COMMAND)
    with running_site() as site:
        monkeypatch.setenv("PIP_INDEX_URL", f"{site.url}/simple")
        yield site


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SimpleNamespace:
    """small (pulled from an index) and big-7b (does not fit), beside those of the program; a machine with 8 GB."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setattr(survey, "graphics", lambda: None)
    memory = SimpleNamespace(total=8 * GB, available=4 * GB)
    monkeypatch.setattr("psutil.virtual_memory", lambda: memory)
    package = package_of(os.urandom(3_000_000))
    text = _small(package.card_text()).replace(
        "disk = 1000", "disk = 3_100_000\nparameters = 1_000_000\nmemory = 900_000_000"
    )
    return SimpleNamespace(
        package=package,
        small=write_card(text, "small"),
        big=write_card(BIG, "big-7b"),
        memory=memory,
        serve=lambda site: serve(site, package),
    )


def _small(text: str) -> str:
    """The scripted engine's model is called tiny: this one is another."""
    return text.replace('"tiny"', '"small"', 1).replace('"Tiny"', '"Small"', 1)


@pytest.fixture
def open_models(open_chat, cards) -> Callable[..., AbstractAsyncContextManager[Models]]:
    @asynccontextmanager
    async def opened(*replies: object, **options: object):
        async with open_chat(*replies, **options) as chat:
            await chat.pilot.press("f11")
            await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))
            models = Models(chat)
            await chat.until(lambda: models.marked is not None)
            yield models

    return opened
