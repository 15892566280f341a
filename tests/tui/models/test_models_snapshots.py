"""How the Models screen looks: four sizes, two themes, fixed cards and a fixed machine."""

from __future__ import annotations

from doubles.chat import Chat
from doubles.model_cards import make_here
from doubles.pictures import DARK_AND_LIGHT, EVERY_SIZE

from medusa_chat import catalog
from medusa_chat.tui.models.model_list import ModelList
from medusa_chat.tui.models.pull_line import PullLine
from medusa_chat.tui.models.screen import ModelsScreen


@DARK_AND_LIGHT
@EVERY_SIZE
def test_models(looks_as_kept, cards, size, theme):
    make_here(cards.small)
    part = catalog.find(catalog.DEFAULT_MODEL).store / "download" / "wheel.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(bytes(40_000_000))
    assert looks_as_kept(marked(catalog.DEFAULT_MODEL), size=size, theme=theme, model="small")


def test_a_model_that_does_not_fit(looks_as_kept, cards):
    assert looks_as_kept(marked("big-7b"), size=(120, 40), theme="medusa-dark", model="small")


def test_without_colours(looks_as_kept, cards, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert looks_as_kept(marked("small"), size=(80, 24), theme=None, model="small")


def marked(name: str):
    async def mark(chat: Chat) -> None:
        await chat.pilot.press("f11")
        await chat.until(lambda: isinstance(chat.app.screen, ModelsScreen))
        models = chat.app.screen
        await chat.until(lambda: models.query_one(ModelList).mark(name))
        await chat.until(lambda: models.query_one(ModelList).marked == name)
        await chat.until(lambda: not models.query_one(PullLine).display)

    return mark
