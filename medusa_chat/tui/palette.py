"""What the palette finds: the actions of the screen, and themes and models by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from textual.command import DiscoveryHit, Hit, Hits, Provider

from medusa_chat.catalog.finding import readable_cards
from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.models.screen import ModelsScreen

if TYPE_CHECKING:
    from medusa_chat.tui.app import MedusaChatApp

Named = tuple[str, str, Callable[[], Any]]
"""What it is called, what it does, and doing it."""


class Actions(Provider):
    """In the order they have on the screen, not by letters: what the cursor stands in comes first."""

    async def discover(self) -> Hits:
        for title, does, act, shown in self.app.get_system_commands(self.screen):
            if shown:
                yield DiscoveryHit(title, act, help=does)

    async def search(self, query: str) -> Hits:
        named = [(title, does, act) for title, does, act, _ in self.app.get_system_commands(self.screen)]
        for hit in _matching(self, query, named):
            yield hit


class Themes(Provider):
    """Worn and remembered at once."""

    async def search(self, query: str) -> Hits:
        look = cast("MedusaChatApp", self.app).look
        named = [
            (f"Theme: {theme.name}", "Wear it, now and from now on", partial(look.choose, theme.name))
            for theme in look.themes
        ]
        for hit in _matching(self, query, named):
            yield hit


class Conversations(Provider):
    """Of the newest and of those with the words in them, by title."""

    async def search(self, query: str) -> Hits:
        app = cast("MedusaChatApp", self.app)
        try:
            found = [*await app.chat.shelf.find(query), *await app.chat.shelf.find("")]
        except MedusaError:
            return  # the chat says why
        titles = {hit.conversation.id: " ".join(hit.conversation.title.split()) for hit in found}
        named = [
            (f"Conversation: {title}", "Go on with it", partial(self._open, id))
            for id, title in titles.items()
            if title
        ]
        for each in _matching(self, query, named):
            yield each

    async def _open(self, conversation: int) -> None:
        app = cast("MedusaChatApp", self.app)
        await app.to_the_chat()
        await app.chat.open(conversation)


class Models(Provider):
    """Leads to the model in the list of models."""

    async def startup(self) -> None:
        try:
            self._cards = (await asyncio.to_thread(readable_cards))[0]
        except MedusaError:
            self._cards = []  # the Models screen says why

    async def search(self, query: str) -> Hits:
        named = [
            (f"Model: {card.title}", "Show it in the list of models", partial(self._show, card.name))
            for card in self._cards
        ]
        for hit in _matching(self, query, named):
            yield hit

    async def _show(self, name: str) -> None:
        app = cast("MedusaChatApp", self.app)
        if not isinstance(app.screen, ModelsScreen):
            await app.in_the_chat("models")
        if isinstance(app.screen, ModelsScreen):
            app.screen.want(name)


def _matching(provider: Provider, query: str, named: Iterable[Named]) -> Iterable[Hit]:
    matcher = provider.matcher(query)
    for title, does, act in named:
        if (score := matcher.match(title)) > 0:
            yield Hit(score, matcher.highlight(title), act, help=does)
