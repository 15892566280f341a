"""The Models screen: what can be done with the marked model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.widgets import OptionList

from medusa_chat import catalog
from medusa_chat.catalog.adding import add, forget, is_own
from medusa_chat.catalog.size import size
from medusa_chat.engine.errors import MedusaError
from medusa_chat.tui.models.asking import AskLine, Confirm
from medusa_chat.tui.models.keys import MODELS_BINDINGS
from medusa_chat.tui.models.survey import Model
from medusa_chat.tui.models.view import ModelsView

_OF_A_MODEL = ("load", "pull", "stop_pull", "precision", "remove")


class ModelsScreen(ModelsView):
    """Stays when it is left, so that pulls go on; it ends them when the app ends."""

    BINDINGS: ClassVar[list[BindingType]] = list(MODELS_BINDINGS)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action not in _OF_A_MODEL:
            return True
        model = self._marked if self.is_mounted else None
        return model is not None and self._can(action, model)

    def _can(self, action: str, model: Model) -> bool:
        pulled = self._pulls.knows(model.card.name)
        if action == "load":
            return model.presence.here and self._loading is None
        if action == "pull":
            return not model.presence.here and not pulled
        if action == "remove":
            return not pulled and (model.presence.taken > 0 or is_own(model.card))
        return pulled if action == "stop_pull" else True

    @on(OptionList.OptionSelected)
    def _on_chosen(self) -> None:
        model = self._marked
        if model is None or self._loading is not None:
            return
        if model.presence.here:
            self.action_load()
        else:
            self.notify(f"{model.card.title} is not here yet: p pulls it.", timeout=4)

    @work(exclusive=True, group="load")
    async def action_load(self) -> None:
        """Have the engine load it; the conversation stays, a running answer ends."""
        model = self._marked
        if model is None or not await self._dares(model):
            return
        self._loading = model.card.name
        self._problems.pop(model.card.name, None)
        self._dialogue.load(model.card.name, self._precision_of(model))
        self._paint()

    async def _dares(self, model: Model) -> bool:
        fit = model.fits[self._precision_of(model)]
        if fit.fits is not False or fit.needed is None:
            return True
        question = (
            f"{model.card.title} needs {size(fit.needed)} while it is loaded, and {size(fit.available)} are free. "
            "The engine may run out of memory; the conversation would stay."
        )
        dared: bool = await self.app.push_screen_wait(Confirm(question, "Load it all the same"))
        return dared

    def action_pull(self) -> None:
        if (model := self._marked) is not None:
            self._problems.pop(model.card.name, None)
            self._pulls.add(model.card)
            self._tick()

    def action_stop_pull(self) -> None:
        if (model := self._marked) is not None:
            self._pulls.cancel(model.card.name)
            self._tick()

    def action_precision(self) -> None:
        """The next one that fits."""
        if (model := self._marked) is not None:
            possible, now = model.possible(), self._precision_of(model)
            here = possible.index(now) if now in possible else -1
            self._chosen[model.card.name] = possible[(here + 1) % len(possible)]
            self._paint()

    @work(exclusive=True, group="change")
    async def action_remove(self) -> None:
        model = self._marked
        if model is None or not await self.app.push_screen_wait(self._question(model)):
            return
        card, taken = model.card, model.presence.taken
        if taken and await self._did(lambda: catalog.remove(card)):
            self.notify(f"The weights of {card.title} are deleted; {size(taken)} are free again.")
        elif not taken and await self._did(lambda: forget(card)):
            self.notify(f"{card.title} is off the list.")

    def _question(self, model: Model) -> Confirm:
        title, taken = model.card.title, model.presence.taken
        if not taken:
            return Confirm(f"Take {title} off the list? Its folder and its heads stay.", "Take it off")
        stays = " It is loaded now, and stays so until another model is." if self._is_loaded(model) else ""
        return Confirm(f"Delete the weights of {title}? {size(taken)} are freed.{stays}", "Delete them")

    @work(exclusive=True, group="change")
    async def action_add(self) -> None:
        question = "A folder with a model, or a repository of the Hugging Face hub:"
        if await self.app.push_screen_wait(AskLine(question, "~/models/mine  or  owner/name", self._add)):
            self.action_look()

    def _add(self, place: str) -> None:
        self._wanted = add(place).name

    async def _did(self, change: Callable[[], object]) -> bool:
        """Away from the event loop; what is in the way is told."""
        try:
            await asyncio.to_thread(change)
        except MedusaError as error:
            self._tell(str(error))
            return False
        finally:
            self.action_look()
        return True

    def action_close(self) -> None:
        self.app.pop_screen()
